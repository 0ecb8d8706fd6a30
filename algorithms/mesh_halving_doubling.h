// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>

#include "transport_ubt/bounded/mesh.h"

namespace gloo {

// Allreduce by recursive halving and doubling, exact, over `mesh`. The options'
// context is not used.
//
// Halving stage: ranks meet in pairs, at a distance of 1, then of 2, 4 and so
// on. A pair divides the elements that both still hold: each rank sends one
// half to the other, and reduces the half it keeps. Doubling stage: the pairs
// meet again, the last ones first, and swap results. So a rank sends at most as
// many bytes as in a ring, but in 2 log2(N) hops instead of 2 (N - 1). It has
// log2(N) peers; in a transpose it has N - 1.
//
// If N is not a power of two, the surplus ranks are folded in first. Each
// surplus rank is the second of a pair (0 1), (2 3), ...; it sends all its
// elements to the first, and gets the result from it at the end. These are two
// more hops, of all bytes.
//
// Only one rank of a pair reduces an element, the lower ranks' operand first.
// So all ranks get the same bits, in every run. Operands stay in rank order, so
// the function need not commute. For 6 ranks the result is ((0 1) (2 3)) (4 5),
// with other roundings than a plain loop.
//
// Otherwise like transposeAllreduce() (transpose_allreduce.h). REQUIRES:
// checkAllreduceOptions() accepts the options.
void meshHalvingDoublingAllreduce(const ubt::Mesh& mesh,
                                  const detail::AllreduceOptionsImpl& options);

}  // namespace gloo
