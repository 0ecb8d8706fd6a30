// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_ubt/core/base/reduction.h"

namespace ubt {

// The arithmetic for the bounded path, with the widest vectors the processor
// has (chosen once, at run time).
//
// * Every count and every alignment is accepted; `destination` and `source`
//   may be the same address, but must not overlap otherwise.
// * float16 and bfloat16 are widened to float32, and rounded once, to nearest
//   even, on the way back. NaN stays NaN (quiet), overflow becomes infinity,
//   subnormals are kept.
// * `scale` rounds its factor to float32 first, except for float64.
//
// Stateless and callable from any thread; lives as long as the process.
const Reduction& reductionKernels();

}  // namespace ubt
