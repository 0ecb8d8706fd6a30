// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "benchmark/comparison/allreduce_under_test.h"

namespace gloo {
namespace compare {

// The bounded transpose allreduce over ubt: `optireduce`, set by the
// environment, one for each repair policy, and one in groups. Throws what
// reading the GLOO_UBT_* variables throws.
std::vector<AlgorithmSpec> ubtAlgorithms();

// `optireduce` under another name, with settings beyond the environment's:
// "NAME VARIABLE=VALUE ...". Throws likewise, and std::invalid_argument for
// what is none.
AlgorithmSpec ubtVariant(const std::string& text);

}  // namespace compare
}  // namespace gloo
