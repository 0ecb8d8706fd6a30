// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/splitmix64.h"

namespace ubt {

// What hadamard.h says of where blocks lie and which signs they get.

constexpr size_t kHadamardRows = 64;         // elements of a block
constexpr size_t kHadamardTileBytes = 1024;  // of each row: one word of signs

// The signs of one tile of a shard: bit k set where row k is negated. Seeds may
// be as close as 1 and 2: they are mixed before tiles are counted on them.
inline uint64_t hadamardSigns(uint64_t seed, uint64_t tile) {
  return splitmix64(splitmix64(seed, 0), tile);
}

}  // namespace ubt
