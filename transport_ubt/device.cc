// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/device.h"

#include <gloo/common/error.h>
#include <gloo/transport/tcp/device.h>
#include <net/if.h>

#include <utility>

#include "transport_ubt/context.h"
#include "transport_ubt/gloo_compat.h"
#include "transport_ubt/io/home_process.h"
#include "transport_ubt/io/interface_names.h"

namespace gloo {
namespace transport {
namespace ubt {

using ::ubt::interfaceNames;
using ::ubt::keepForEver;
namespace {

// Gloo's own look-up, but the error lists the interfaces of this host.
tcp::attr resolve(const tcp::attr& attr) {
  if (!attr.iface.empty() && if_nametoindex(attr.iface.c_str()) == 0) {
    std::string known;
    for (const std::string& name : interfaceNames()) {
      known += (known.empty() ? "" : ", ") + name;
    }
    throw ::gloo::InvalidOperationException(
        "no network interface '" + attr.iface + "' here; there are " + known);
  }
  tcp::attr resolved = tcp::CreateDeviceAttr(attr);
  compat::closeSocket(resolved);  // tcp's device looks it up again
  return resolved;
}

}  // namespace

std::shared_ptr<::gloo::transport::Device> CreateDevice(const attr& attr) {
  return std::make_shared<Device>(attr);
}

Device::Device(const attr& attr) {
  const tcp::attr resolved = resolve(attr);
  tcp_ = tcp::CreateDevice(resolved);
  engine_ = std::make_shared<Engine>(resolved.ai_addr, attr.settings);
}

Device::~Device() {
  if (!engine_->isOfThisProcess()) {
    keepForEver(std::move(tcp_));
  }
}

std::string Device::str() const {
  return "ubt, " + tcp_->str() + ", udp=" + engine_->address().str() +
         ", slot=" + std::to_string(engine_->slotBytesMax());
}

const std::string& Device::getPCIBusID() const {
  return tcp_->getPCIBusID();
}

int Device::getInterfaceSpeed() const {
  return tcp_->getInterfaceSpeed();
}

std::shared_ptr<::gloo::transport::Context> Device::createContext(int rank,
                                                                  int size) {
  (void)engine_->driver();  // throws in a forked child
  return std::make_shared<Context>(
      shared_from_this(), engine_, tcp_->createContext(rank, size), rank, size);
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
