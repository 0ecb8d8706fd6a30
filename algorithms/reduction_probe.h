// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>

#include <cstddef>
#include <optional>

#include "transport_ubt/core/base/element_type.h"

namespace gloo {

// The type that a reduction sums, if a bounded allreduce can sum it; empty
// otherwise. Gloo's options have a reduction only as an opaque function and an
// element size. So this calls it on eight elements of scratch memory, whose sum
// shows the type.
std::optional<ubt::ElementType> summedType(const AllreduceOptions::Func& reduce,
                                           size_t elementSize);

}  // namespace gloo
