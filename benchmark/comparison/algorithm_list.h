// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "benchmark/comparison/allreduce_under_test.h"
#include "transport_ubt/config/settings.h"

namespace gloo {
namespace compare {

// All algorithms, in the order of comparison and output.
std::vector<AlgorithmSpec> allAlgorithms(const ubt::Settings& settings);

// Why the algorithm cannot work with this number of ranks; empty if it can.
std::string whyNot(const AlgorithmSpec& spec, int ranks);

// The algorithms with these names, in the given order; a name may have settings
// of its own (algorithm_name.h). For an empty list, the default algorithms that
// can work. Throws std::invalid_argument for a name that is unknown, with a
// list of all names, or that cannot work, with the reason, or that is there
// twice. Throws the errors of reading the GLOO_UBT_* variables.
std::vector<AlgorithmSpec> chooseAlgorithms(
    const std::vector<std::string>& names, int ranks);

}  // namespace compare
}  // namespace gloo
