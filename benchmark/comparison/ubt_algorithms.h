// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "benchmark/comparison/allreduce_under_test.h"

namespace gloo {
namespace compare {

// The bounded transpose allreduce over ubt: `optireduce` with the environment's
// settings, one variant for each repair policy, and one in groups. Throws the
// errors of reading the GLOO_UBT_* variables.
std::vector<AlgorithmSpec> ubtAlgorithms();

// `optireduce` with another name and additional settings: "NAME VARIABLE=VALUE
// ...". Throws the same errors, and std::invalid_argument if a word is not a
// setting.
AlgorithmSpec ubtVariant(const std::string& text);

}  // namespace compare
}  // namespace gloo
