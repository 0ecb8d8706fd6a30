// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "benchmark/comparison/allreduce_under_test.h"
#include "transport_ubt/config/settings.h"

namespace gloo {
namespace compare {

// The bounded transpose allreduce over ubt: `optireduce` with these settings,
// one for each repair policy, and one in groups.
std::vector<AlgorithmSpec> ubtAlgorithms(const ubt::Settings& settings);

}  // namespace compare
}  // namespace gloo
