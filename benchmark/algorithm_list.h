// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "benchmark/allreduce_under_test.h"

namespace gloo {
namespace compare {

// All algorithms, in the order in which they are compared and shown.
const std::vector<AlgorithmSpec>& allAlgorithms();

// Those of that name, in the order given; all for an empty list. Throws
// std::invalid_argument that names an unknown one and lists what there is.
std::vector<AlgorithmSpec> chooseAlgorithms(
    const std::vector<std::string>& names);

}  // namespace compare
}  // namespace gloo
