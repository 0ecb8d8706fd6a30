// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>

#include <cstddef>
#include <optional>

#include "transport_ubt/core/base/element_type.h"

namespace gloo {

// Gloo's options carry a reduction as an opaque function and an element size.
// Tells whether it sums one of the types that a bounded allreduce can sum, by
// calling it on values whose sum gives the type away; empty otherwise. The
// function is called on eight elements of scratch memory.
std::optional<ubt::ElementType> summedType(const AllreduceOptions::Func& reduce,
                                           size_t elementSize);

}  // namespace gloo
