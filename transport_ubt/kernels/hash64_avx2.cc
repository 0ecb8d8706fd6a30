// SPDX-License-Identifier: Apache-2.0
//
// Compiled for AVX2, which is three times as fast here as SSE2. So it includes
// no C++ header whose inline functions other files might get from here.
#include "transport_ubt/kernels/hash64_with.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ubt {

uint64_t hash64WithAvx2(const void* data, size_t bytes, uint64_t seed) {
  const uint64_t hash = XXH3_64bits_withSeed(data, bytes, seed);
#if defined(__AVX2__)
  // GCC 12 leaves this out. Without it, all SSE code of the process, for
  // example Gloo's sums, takes 1.3 times as long until other code does it.
  _mm256_zeroupper();
#endif
  return hash;
}

}  // namespace ubt
