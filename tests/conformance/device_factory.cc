// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/device_factory.h"

#include <gloo/transport/tcp/device.h>

#include "transport_ubt/device.h"

namespace gloo {
namespace testing {

namespace {

std::shared_ptr<transport::Device> createTcpDevice() {
  transport::tcp::attr attr;
  attr.hostname = "127.0.0.1";
  return transport::tcp::CreateDevice(attr);
}

std::shared_ptr<transport::Device> createUbtDevice() {
  return transport::ubt::CreateDevice("127.0.0.1");
}

}  // namespace

const std::vector<Transport>& transports() {
  static const std::vector<Transport> kTransports = {
      {"tcp", &createTcpDevice},  // must be the first (tcpTransport())
      {"ubt", &createUbtDevice},
  };
  return kTransports;
}

}  // namespace testing
}  // namespace gloo
