// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "benchmark/comparison/allreduce_under_test.h"

namespace gloo {
namespace compare {

// Gloo's four allreduces and the exact transposes, over Gloo's tcp transport.
// Throws the errors of reading the GLOO_UBT_* variables.
std::vector<AlgorithmSpec> tcpAlgorithms();

// A device of Gloo's tcp transport. Throws Gloo's error if there is no such
// interface.
std::shared_ptr<transport::Device> createTcpDevice(
    const std::string& interface);

}  // namespace compare
}  // namespace gloo
