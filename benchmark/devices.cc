// SPDX-License-Identifier: Apache-2.0
#include "benchmark/devices.h"

#include <fmt/format.h>
#include <gloo/transport/tcp/device.h>
#include <net/if.h>

#include <functional>

#include "transport_ubt/device.h"
#include "transport_ubt/io/interface_names.h"

namespace gloo {
namespace benchmark {

namespace {

using Device = std::shared_ptr<transport::Device>;

// Makes a device on an interface; an empty name means the host name's.
using Maker = std::function<Device(const std::string& interface)>;

Device createTcp(const std::string& interface) {
  transport::tcp::attr attr;
  attr.iface = interface;
  return transport::tcp::CreateDevice(attr);
}

Device createUbt(const std::string& interface) {
  transport::ubt::attr attr;
  attr.iface = interface;
  return transport::ubt::CreateDevice(attr);
}

struct Transport {
  const char* name;
  Maker make;
};

const std::vector<Transport>& transports() {
  static const std::vector<Transport> all = {
      {"tcp", createTcp},
      {"ubt", createUbt},
  };
  return all;
}

const Transport& findTransport(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& transport : transports()) {
    if (transport.name == name) {
      return transport;
    }
    names.emplace_back(transport.name);
  }
  throw UsageError(
      fmt::format("--transport {}: unknown transport; this build has {}",
                  name,
                  fmt::join(names, ", ")));
}

void checkInterface(const std::string& name) {
  if (if_nametoindex(name.c_str()) != 0) {
    return;
  }
  throw UsageError(
      fmt::format("--tcp-device {}: unknown interface; this host has {}",
                  name,
                  fmt::join(ubt::interfaceNames(), ", ")));
}

}  // namespace

Devices createDevices(const Options& options) {
  const auto& transport = findTransport(options.transport);
  Devices devices;
  for (const auto& interface : options.tcpDevices) {
    checkInterface(interface);
    devices.push_back(transport.make(interface));
  }
  if (devices.empty()) {
    devices.push_back(transport.make(""));
  }
  return devices;
}

}  // namespace benchmark
}  // namespace gloo
