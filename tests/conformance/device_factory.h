// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/transport/device.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gloo {
namespace testing {

// A transport that the conformance matrix runs over.
struct Transport {
  std::string name;
  // Makes one rank's device, on the loopback interface.
  std::function<std::shared_ptr<transport::Device>()> createDevice;
};

// All of them. A new transport is one line in device_factory.cc.
const std::vector<Transport>& transports();

// Gloo's own, for what is the same over all of them.
inline const Transport& tcpTransport() {
  return transports()[0];
}

}  // namespace testing
}  // namespace gloo
