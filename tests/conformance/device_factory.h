// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/transport/device.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gloo {
namespace testing {

// A transport for the conformance matrix.
struct Transport {
  std::string name;
  // Makes one rank's device, on the loopback interface.
  std::function<std::shared_ptr<transport::Device>()> createDevice;
};

// All transports. A new one is one line in device_factory.cc.
const std::vector<Transport>& transports();

// Gloo's own transport, for tests whose subject is the same over all
// transports.
inline const Transport& tcpTransport() {
  return transports()[0];
}

}  // namespace testing
}  // namespace gloo
