// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "transport_ubt/config/settings.h"
#include "transport_ubt/io/driver.h"
#include "transport_ubt/io/home_process.h"

namespace ubt {

// One UDP socket and the driver of the bounded protocol on it. Serves any
// number of contexts, from any number of threads. In a forked child it does
// nothing: it does not receive or send, and its destructor leaves all to the
// process that created it.
class Engine {
 public:
  // Binds an address of this host and a port that the settings allow. Warns
  // once of injected faults. Throws gloo::Exception that names a port range in
  // use, an MTU that is too small, or settings that contradict each other.
  Engine(const sockaddr_storage& address, const Settings& settings);
  ~Engine();

  // Throws gloo::InvalidOperationException in a forked child.
  Driver& driver();
  // True in the process that created it, false in a forked child.
  bool isOfThisProcess() const { return home_.isThis(); }
  const SocketAddress& address() const { return driver_->socket().address(); }
  const Settings& settings() const { return settings_; }
  // Maximum bytes of a slot on this host's interface.
  size_t slotBytesMax() const { return slotBytesMax_; }
  // Bytes of a datagram without its slot.
  static size_t aroundSlotBytes(AuthMode auth);

 private:
  const HomeProcess home_;
  const Settings settings_;
  std::unique_ptr<Driver> driver_;  // never null
  const size_t slotBytesMax_;
};

}  // namespace ubt
