// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ubt {

// Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
// OOPSLA'14. Ranks with the same seed draw the same numbers, so they need not
// exchange them.

// Spreads the bits of a number over a 64-bit word (the generator's finaliser).
inline uint64_t mixed(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

// Output `number`, counted from 0, of the generator that starts at `seed`. Its
// 64 bits may be used as independent random bits.
inline uint64_t splitmix64(uint64_t seed, uint64_t number) {
  return mixed(seed + (number + 1) * 0x9e3779b97f4a7c15);
}

}  // namespace ubt
