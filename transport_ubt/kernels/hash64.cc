// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/kernels/hash64.h"

#include "transport_ubt/kernels/hash64_with.h"

// Only inline code, so that programs need no further library. The library also
// chooses no instructions at run time.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ubt {

uint64_t hash64WithBaseline(const void* data, size_t bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(data, bytes, seed);
}

uint64_t hash64(const void* data, size_t bytes, uint64_t seed) {
  static const bool avx2 = hasAvx2();
  return avx2 ? hash64WithAvx2(data, bytes, seed)
              : hash64WithBaseline(data, bytes, seed);
}

}  // namespace ubt
