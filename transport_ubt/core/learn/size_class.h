// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ubt {

// Ops belong to one class if their bytes have the same power of two.
inline uint32_t sizeClassOf(uint64_t bytes) {
  uint32_t log = 0;
  while (bytes >>= 1) {
    log++;
  }
  return log;
}

}  // namespace ubt
