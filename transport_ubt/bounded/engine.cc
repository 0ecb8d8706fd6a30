// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/engine.h"

#include <gloo/common/error.h>

#include <algorithm>
#include <string>

#include "transport_ubt/bounded/hello.h"
#include "transport_ubt/core/op/shard_layout.h"
#include "transport_ubt/core/wire/packet_crypto.h"
#include "transport_ubt/core/wire/packet_header.h"
#include "transport_ubt/io/home_process.h"
#include "transport_ubt/io/warning.h"
#include "transport_ubt/kernels/reduction_kernels.h"

namespace ubt {
namespace {

constexpr int kSlotStep = static_cast<int>(ShardLayout::kSlotStep);

size_t slotBytesFor(int mtu, const SocketAddress& address, AuthMode auth) {
  const int datagram = std::min(mtu - address.headerBytes(),
                                static_cast<int>(UdpSocket::kTrainBytesMax));
  const int around = static_cast<int>(Engine::aroundSlotBytes(auth));
  const int slot = (datagram - around) / kSlotStep * kSlotStep;
  if (slot < static_cast<int>(Hello::kSlotBytesMin)) {
    throw gloo::InvalidOperationException(
        "an MTU of " + std::to_string(mtu) +
        " bytes is too small for the bounded transport: raise it to 576 or "
        "more (ip link set dev ... mtu ...), or use the tcp transport");
  }
  return slot;
}

// The arena's limit is per process, not per device. Never destroyed, because
// devices may outlive static objects.
ArenaBudget& processBudget() {
  static auto* const kBudget = new ArenaBudget();
  return *kBudget;
}

std::unique_ptr<Driver> makeDriver(const sockaddr_storage& address,
                                   const Settings& settings) {
  settings.check();
  Driver::Options options;
  options.socket.address = SocketAddress(address, 0);
  options.socket.portLow = settings.portLow;
  options.socket.portHigh = settings.portHigh;
  options.socket.segmentation = settings.segmentation;
  options.socket.receiveBufferBytes =
      std::max(options.socket.receiveBufferBytes,
               static_cast<int>(settings.windowBytes));
  options.socket.warn = warnOnce;
  options.limits.arenaBytes = settings.arenaBytes;
  options.limits.arenaBudget = &processBudget();
  options.limits.windowBytesMax = settings.windowBytes;
  options.limits.without = settings.protocol.without;
  options.faults = settings.faults;
  options.idle = settings.idle;
  if (settings.faults.any()) {
    warnOnce("GLOO_UBT_FAULT is on: datagrams are harmed on purpose");
  }
  try {
    return std::make_unique<Driver>(options, reductionKernels());
  } catch (const std::runtime_error& error) {  // includes std::system_error
    throw gloo::IoException(error.what());
  }
}

}  // namespace

Engine::Engine(const sockaddr_storage& address, const Settings& settings)
    : settings_(settings),
      driver_(makeDriver(address, settings)),
      slotBytesMax_(slotBytesFor(
          settings.mtu > 0 ? settings.mtu : driver_->socket().mtu(),
          driver_->socket().address(),
          settings.protocol.auth)) {}

Engine::~Engine() {
  if (!home_.isThis()) {
    // Its threads do not exist here. Its descriptors close with this process.
    keepForEver(std::move(driver_));
  }
}

size_t Engine::aroundSlotBytes(AuthMode auth) {
  return PacketHeader::kBytes + (auth == AuthMode::kAead ? kSealBytes : 0);
}

Driver& Engine::driver() {
  if (!home_.isThis()) {
    throw gloo::InvalidOperationException(
        "this device belongs to " + home_.str() +
        ", and this process is a forked child: after fork(), create a new "
        "device and new contexts");
  }
  return *driver_;
}

}  // namespace ubt
