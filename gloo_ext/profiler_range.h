// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gloo_ext {

// A range in the traces of torch.profiler, while this object lives. It is for
// the thread that made it. Does nothing with a PyTorch that lacks the C
// functions for it (1.13), and without PyTorch.
class ProfilerRange {
 public:
  // `name` must outlive this.
  explicit ProfilerRange(const char* name) noexcept;
  ~ProfilerRange();
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;

 private:
  void* range_ = nullptr;  // null: none
};

}  // namespace gloo_ext
