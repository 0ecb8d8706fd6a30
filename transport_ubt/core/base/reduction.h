// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/element_type.h"

namespace ubt {

// The arithmetic of sums, as plain functions, so that the simulator can check
// the protocol with arithmetic of its own. Implementations must be stateless
// and callable from any thread. Pointers may have any alignment: `source`
// usually points into a received datagram.
struct Reduction {
  // destination[i] += source[i] for i in [0, count), rounded to the type.
  void (*add)(ElementType type,
              void* destination,
              const void* source,
              size_t count);
  // data[i] *= factor for i in [0, count), rounded to the type.
  void (*scale)(ElementType type, void* data, double factor, size_t count);

  // A linear transform that spreads each element over many. A lost part then
  // does little harm to each element, instead of much harm to a few
  // (OptiReduce, section 3.3). `seed` selects the transform. Returns false, and
  // leaves the data unchanged, if a value might not be finite in the type, or
  // the sum of the transforms of `contributors` ranks.
  bool (*transform)(ElementType type,
                    void* data,
                    size_t count,
                    uint64_t seed,
                    size_t contributors);
  void (*inverse)(ElementType type, void* data, size_t count, uint64_t seed);
};

}  // namespace ubt
