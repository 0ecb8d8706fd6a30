// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/device.h"

#include <gloo/common/error.h>
#include <gloo/transport/tcp/device.h>
#include <net/if.h>

#include <algorithm>
#include <iostream>
#include <mutex>
#include <set>

#include "transport_ubt/context.h"
#include "transport_ubt/core/packet_header.h"
#include "transport_ubt/interfaces.h"
#include "transport_ubt/kernels/reduction_kernels.h"
#include "transport_ubt/receive_buffer.h"

namespace gloo {
namespace transport {
namespace ubt {
namespace {

constexpr int kIpv4Overhead = 20 + 8;  // IP and UDP headers
constexpr int kIpv6Overhead = 40 + 8;
// What one UDP datagram can carry, in steps of 64.
constexpr int kSlotBytesLargest = 65408;
constexpr int kSlotBytesSmallest = 256;

// Gloo's own look-up, with an error one can act on.
tcp::attr resolve(const tcp::attr& attr) {
  if (!attr.iface.empty() && if_nametoindex(attr.iface.c_str()) == 0) {
    std::string known;
    for (const std::string& name : interfaceNames()) {
      known += (known.empty() ? "" : ", ") + name;
    }
    throw ::gloo::InvalidOperationException(
        "no network interface '" + attr.iface + "' here; there are " + known);
  }
  return tcp::CreateDeviceAttr(attr);
}

size_t slotBytesFor(int mtu, int family, ::ubt::AuthMode auth) {
  const int payload = mtu -
                      (family == AF_INET6 ? kIpv6Overhead : kIpv4Overhead) -
                      static_cast<int>(::ubt::PacketHeader::kBytes);
  const int behind = auth == ::ubt::AuthMode::kAead ? ::ubt::kSealBytes : 0;
  const int slot = (std::min(payload, kSlotBytesLargest) - behind) / 64 * 64;
  if (slot < kSlotBytesSmallest) {
    throw ::gloo::InvalidOperationException(
        "an MTU of " + std::to_string(mtu) +
        " bytes is too small for the bounded transport: raise it to 576 or "
        "more (ip link set dev ... mtu ...), or use the tcp transport");
  }
  return slot;
}

void warnOnce(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> said;
  std::lock_guard<std::mutex> lock(mutex);
  if (said.insert(text).second) {
    std::cerr << "warning: " << text << "\n";
  }
}

// The arena's limit is the process's, however many devices it has. Devices may
// outlive static objects.
::ubt::ArenaBudget& processBudget() {
  static auto* const kBudget = new ::ubt::ArenaBudget();
  return *kBudget;
}

std::unique_ptr<::ubt::Driver> makeDriver(const tcp::attr& attr,
                                          const Settings& settings) {
  ::ubt::Driver::Options options;
  options.socket.address = ::ubt::SocketAddress(attr.ai_addr, 0);
  options.socket.portLow = settings.portLow;
  options.socket.portHigh = settings.portHigh;
  options.socket.segmentation = settings.segmentation;
  options.limits.arenaBytes = settings.arenaBytes;
  options.limits.arenaBudget = &processBudget();
  options.limits.windowBytesMax = settings.windowBytes;
  options.faults = settings.faults;
  options.idle = settings.idle;
  if (settings.faults.any()) {
    warnOnce("GLOO_UBT_FAULT is on: datagrams are harmed on purpose");
  }
  std::unique_ptr<::ubt::Driver> driver;
  try {
    driver =
        std::make_unique<::ubt::Driver>(options, ::ubt::reductionKernels());
  } catch (const std::runtime_error& error) {  // std::system_error, too
    throw ::gloo::IoException(error.what());
  }
  const std::string advice = receiveBufferAdvice(
      driver->socket().receiveBufferBytes(), options.socket.receiveBufferBytes);
  if (!advice.empty()) {
    warnOnce(advice);
  }
  return driver;
}

}  // namespace

std::shared_ptr<::gloo::transport::Device> CreateDevice(const attr& attr) {
  return std::make_shared<Device>(attr);
}

Device::Device(const attr& attr) : settings_(attr.settings) {
  const tcp::attr resolved = resolve(attr);
  tcp_ = tcp::CreateDevice(resolved);
  driver_ = makeDriver(resolved, settings_);
  slotBytesMax_ =
      slotBytesFor(settings_.mtu > 0 ? settings_.mtu : driver_->socket().mtu(),
                   driver_->socket().address().family(),
                   settings_.protocol.auth);
}

std::string Device::str() const {
  return "ubt, " + tcp_->str() + ", udp=" + driver_->socket().address().str() +
         ", slot=" + std::to_string(slotBytesMax_);
}

const std::string& Device::getPCIBusID() const {
  return tcp_->getPCIBusID();
}

int Device::getInterfaceSpeed() const {
  return tcp_->getInterfaceSpeed();
}

std::shared_ptr<::gloo::transport::Context> Device::createContext(int rank,
                                                                  int size) {
  return std::make_shared<Context>(
      shared_from_this(), tcp_->createContext(rank, size), rank, size);
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
