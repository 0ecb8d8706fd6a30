// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "benchmark/comparison/allreduce_under_test.h"

namespace gloo {
namespace compare {

// All algorithms, in the order of comparison and output.
const std::vector<AlgorithmSpec>& allAlgorithms();

// Why the algorithm cannot work with this number of ranks; empty if it can.
std::string whyNot(const AlgorithmSpec& spec, int ranks);

// The algorithms with these names, in the given order. For an empty list, the
// default algorithms that can work. Throws std::invalid_argument for a name
// that is unknown, with a list of all names, or that cannot work, with the
// reason.
std::vector<AlgorithmSpec> chooseAlgorithms(
    const std::vector<std::string>& names, int ranks);

}  // namespace compare
}  // namespace gloo
