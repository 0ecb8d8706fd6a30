// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace gloo_ext {

// The contexts whose user wants every sum exact. A user has no hold of a
// context, only of something that calls an allreduce on one, in a thread of its
// own: so it says what one such call will bring, and calls. Any thread may call
// any of these.
class ExactContexts {
 public:
  static constexpr size_t kTokenBytesMin = 16;
  static constexpr size_t kTokenBytesMax = 4096;

  void expect(const std::string& token);
  // Forgets the token. Whether it came.
  bool came(const std::string& token);

  // Takes note if the contribution is an expected token; then or if that was so
  // before, true.
  bool covers(const std::shared_ptr<gloo::Context>& context,
              const void* contribution,
              size_t bytes);

 private:
  std::mutex mutex_;
  std::atomic<bool> used_{false};       // spares others the lock
  std::map<std::string, bool> tokens_;  // and whether each came
  std::map<const gloo::Context*, std::weak_ptr<gloo::Context>> contexts_;
};

}  // namespace gloo_ext
