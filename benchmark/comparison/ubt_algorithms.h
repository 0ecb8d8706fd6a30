// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "benchmark/comparison/allreduce_under_test.h"

namespace gloo {
namespace compare {

// The bounded transpose over the ubt transport: with the repair policy that is
// configured (`optireduce`), and with each policy by name
// (`optireduce:none`, `optireduce:broadcast`, `optireduce:both`).
std::vector<AlgorithmSpec> ubtAlgorithms();

}  // namespace compare
}  // namespace gloo
