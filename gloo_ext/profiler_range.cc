// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/profiler_range.h"

#include <dlfcn.h>

#include <cstdint>
#include <string>
#include <unordered_map>

#include "gloo_ext/symbol.h"

namespace gloo_ext {
namespace {

// PyTorch's C functions (torch/csrc/inductor/aoti_torch/c/shim.h). They return
// 0 for success.
class Profiler {
 public:
  // A range has named arguments, here none: a map in C++, behind a pointer.
  using Arguments = std::unordered_map<std::string, void*>;
  using Start = int32_t (*)(const char* name,
                            const Arguments* arguments,
                            void* const* inputs,
                            uint64_t inputCount,
                            void** range);
  using End = int32_t (*)(void* range);

  static const Profiler& instance() {
    static const Profiler kProfiler;
    return kProfiler;
  }

  void* begin(const char* name) const {
    void* range = nullptr;
    return end_ != nullptr && start_(name, &none_, nullptr, 0, &range) == 0
               ? range
               : nullptr;
  }
  void end(void* range) const { end_(range); }

 private:
  Profiler() {
    void* const torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    if (torch != nullptr &&
        look(torch, "aoti_record_function_start", &start_)) {
      look(torch, "aoti_record_function_end", &end_);
    }
  }

  const Arguments none_;
  Start start_ = nullptr;
  End end_ = nullptr;
};

}  // namespace

ProfilerRange::ProfilerRange(const char* name) noexcept
    : range_(Profiler::instance().begin(name)) {}

ProfilerRange::~ProfilerRange() {
  if (range_ != nullptr) {
    Profiler::instance().end(range_);
  }
}

}  // namespace gloo_ext
