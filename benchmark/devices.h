// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/transport/device.h>

#include <memory>
#include <vector>

#include "benchmark/options.h"

namespace gloo {
namespace benchmark {

using Devices = std::vector<std::shared_ptr<transport::Device>>;

// Makes a device for each requested interface, at least one, of the requested
// transport. Throws UsageError for a transport or an interface that does not
// exist.
Devices createDevices(const Options& options);

}  // namespace benchmark
}  // namespace gloo
