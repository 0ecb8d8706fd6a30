// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace gloo {
namespace compare {

// The times of steps: from the end of an iteration to the end of the next one,
// where an iteration ends once half of the ranks have finished it. Their sum is
// the time of all iterations. The times inside an allreduce count a late rank
// twice: it finishes one iteration late, and the others wait in the next one.
//
// `finished`: for each rank in turn, when it finished each of `iterations`
// iterations since the start of its turn. Turns have `perTurn` iterations each.
// Ranks need not have the same clock. REQUIRES that `perTurn` divides
// `iterations`.
std::vector<double> stepTimes(const std::vector<double>& finished,
                              size_t iterations,
                              size_t perTurn);

}  // namespace compare
}  // namespace gloo
