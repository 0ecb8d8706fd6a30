// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ubt {

// What hadamard.h says of where blocks lie and which signs they get.

constexpr size_t kHadamardRows = 64;         // elements of a block
constexpr size_t kHadamardTileBytes = 1024;  // of each row: one word of signs

// splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", OOPSLA'14): the number-th output, from 0, of the generator that
// starts at `seed`. As good as 64 independent bits, the same everywhere.
inline uint64_t splitmix64(uint64_t seed, uint64_t number) {
  uint64_t z = seed + (number + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// The signs of one tile of a shard: bit k set where row k is negated. Seeds may
// be as close as 1 and 2: they are mixed before tiles are counted on them.
inline uint64_t hadamardSigns(uint64_t seed, uint64_t tile) {
  return splitmix64(splitmix64(seed, 0), tile);
}

}  // namespace ubt
