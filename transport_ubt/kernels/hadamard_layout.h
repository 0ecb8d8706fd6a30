// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/splitmix64.h"

namespace ubt {

// The layout and the signs of blocks, as hadamard.h describes them.

constexpr size_t kHadamardRows = 64;         // elements of a block
constexpr size_t kHadamardTileBytes = 1024;  // of each row of a tile

// The signs of one tile of a shard: bit k is set if row k is negated. Seeds may
// be as close as 1 and 2, because they are mixed before the tile's number
// counts.
inline uint64_t hadamardSigns(uint64_t seed, uint64_t tile) {
  return splitmix64(splitmix64(seed, 0), tile);
}

}  // namespace ubt
