// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/kernels/hash64.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "transport_ubt/kernels/hash64_with.h"

namespace ubt {
namespace {

// Ranks on different processors compare their hashes.
TEST(Hash64, AllInstructionsGiveTheSameValue) {
  if (!hasAvx2()) {
    GTEST_SKIP() << "this processor has no AVX2";
  }
  std::vector<uint8_t> data(70000);
  std::iota(data.begin(), data.end(), 0);
  for (const size_t bytes : {0, 1, 16, 100, 240, 241, 1440, 8192, 65000}) {
    for (const size_t offset : {0, 1, 33}) {
      const uint8_t* const from = data.data() + offset;
      const uint64_t seed = bytes << 32 | offset;
      EXPECT_EQ(hash64WithAvx2(from, bytes, seed),
                hash64WithBaseline(from, bytes, seed))
          << bytes << " bytes from " << offset;
    }
  }
}

// Ranks with different builds of this library compare theirs, too. The value
// is that of xxhsum -H3 for one byte of zero.
TEST(Hash64, TheValueIsThatOfXxh3) {
  const uint8_t zero = 0;
  EXPECT_EQ(hash64(&zero, 1, 0), 0xc44bdff4074eecdbU);
}

}  // namespace
}  // namespace ubt
