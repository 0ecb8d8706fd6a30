// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "benchmark/comparison/allreduce_under_test.h"

namespace gloo {
namespace compare {

// The bounded transpose allreduce over ubt: `optireduce`, set by the
// environment, one for each repair policy, and one in groups. Throws what
// reading the GLOO_UBT_* variables throws.
std::vector<AlgorithmSpec> ubtAlgorithms();

}  // namespace compare
}  // namespace gloo
