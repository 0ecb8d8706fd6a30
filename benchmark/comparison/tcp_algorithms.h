// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "benchmark/comparison/allreduce_under_test.h"
#include "transport_ubt/config/settings.h"

namespace gloo {
namespace compare {

// Gloo's four allreduces and the exact transposes, over Gloo's tcp transport.
// Only the groups of `settings` count.
std::vector<AlgorithmSpec> tcpAlgorithms(const ubt::Settings& settings);

// A device of Gloo's tcp transport. Throws Gloo's error if there is no such
// interface.
std::shared_ptr<transport::Device> createTcpDevice(
    const std::string& interface);

}  // namespace compare
}  // namespace gloo
