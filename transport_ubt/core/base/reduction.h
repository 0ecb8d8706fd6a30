// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/element_type.h"

namespace ubt {

// The arithmetic the protocol needs, handed to it as plain functions so that
// the core depends on no SIMD library. Implementations must be stateless and
// callable from any thread. Pointers need only the alignment of one byte:
// `source` usually points into a received datagram.
struct Reduction {
  // destination[i] += source[i] for i in [0, count), rounded to the type.
  void (*add)(ElementType type,
              void* destination,
              const void* source,
              size_t count);
  // data[i] *= factor for i in [0, count), rounded to the type.
  void (*scale)(ElementType type, void* data, double factor, size_t count);

  // A linear transform that spreads each element over many, so that what is
  // lost harms all a little (OptiReduce, section 3.3); `seed` draws it. False,
  // and the data as they were, where a value, or the sum of the transforms at
  // `contributors` ranks, might not be finite in the type.
  bool (*transform)(ElementType type,
                    void* data,
                    size_t count,
                    uint64_t seed,
                    size_t contributors);
  void (*inverse)(ElementType type, void* data, size_t count, uint64_t seed);
};

}  // namespace ubt
