// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace benchmark {

// Peak memory in bytes of this process since its program began. (getrusage()
// would include the process that started it.) 0 if Linux does not report it.
inline int64_t peakResidentBytes() {
  constexpr char kField[] = "VmHWM:";
  constexpr int64_t kUnit = 1024;
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    int64_t kibibytes = 0;
    if (word == kField && status >> kibibytes) {
      return kUnit * kibibytes;
    }
  }
  return 0;
}

}  // namespace benchmark
