// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace benchmark {

// Bytes of memory that this process had when it had most, since its program
// began: getrusage() also knows of the one that started it. 0: Linux does not
// say.
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
