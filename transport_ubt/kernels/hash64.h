// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ubt {

// XXH3 with a seed: 64 bits of a hash. All processors compute the same value,
// each with its own instructions. Stateless, for any thread.
uint64_t hash64(const void* data, size_t bytes, uint64_t seed);

}  // namespace ubt
