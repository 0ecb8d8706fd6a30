// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "benchmark/comparison/allreduce_under_test.h"

namespace gloo {
namespace compare {

// All algorithms, in the order in which they are compared and shown.
const std::vector<AlgorithmSpec>& allAlgorithms();

// Why an algorithm cannot work with so many ranks; empty when it can.
std::string whyNot(const AlgorithmSpec& spec, int ranks);

// Those of that name, in the order given; the defaults that can work for an
// empty list. Throws std::invalid_argument that names one which is unknown, and
// lists what there is, or which cannot work, and says why.
std::vector<AlgorithmSpec> chooseAlgorithms(
    const std::vector<std::string>& names, int ranks);

}  // namespace compare
}  // namespace gloo
