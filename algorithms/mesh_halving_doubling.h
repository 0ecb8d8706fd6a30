// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>

#include "transport_ubt/bounded/mesh.h"

namespace gloo {

// Allreduce by recursive halving and doubling, exact, over a mesh, which stands
// in for the options' context: that is not looked at.
//
// Halving stage: ranks meet in pairs, at a distance of 1, then of 2, 4 and so
// on. A pair divides what both of them still hold: each gives one half to the
// other and reduces the half it keeps. Doubling stage: the pairs meet again,
// the last ones first, and swap results. So a rank sends no more bytes than in
// a ring, in 2 log2(N) hops where a ring takes 2 (N - 1), and has log2(N) peers
// where a transpose has N - 1.
//
// Where N is no power of two, the surplus is folded first: in so many of the
// pairs (0 1), (2 3), ..., the second gives all it has to the first, and gets
// the result from it at the end. These are two more hops, of all bytes.
//
// An element is reduced by only one of a pair, the lower ranks' operand first:
// all ranks get the same bits, two runs as well, and operands stay in rank
// order, so the function need not commute. For 6 ranks the result is that of
// ((0 1) (2 3)) (4 5): other roundings than those of a plain loop.
//
// Otherwise as transposeAllreduce() (transpose_allreduce.h). REQUIRES options
// that checkAllreduceOptions() has nothing against.
void meshHalvingDoublingAllreduce(const transport::ubt::Mesh& mesh,
                                  const detail::AllreduceOptionsImpl& options);

}  // namespace gloo
