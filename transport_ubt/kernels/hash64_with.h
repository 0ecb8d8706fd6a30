// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ubt {

// hash64() with the instructions that every processor of the architecture has,
// and with AVX2. The results are equal.
uint64_t hash64WithBaseline(const void* data, size_t bytes, uint64_t seed);
// REQUIRES hasAvx2().
uint64_t hash64WithAvx2(const void* data, size_t bytes, uint64_t seed);

inline bool hasAvx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0;
#else
  return false;
#endif
}

}  // namespace ubt
