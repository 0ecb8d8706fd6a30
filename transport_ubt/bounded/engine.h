// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "transport_ubt/config/settings.h"
#include "transport_ubt/io/driver.h"
#include "transport_ubt/io/home_process.h"

namespace gloo {
namespace transport {
namespace ubt {

// One UDP socket and what drives the bounded protocol on it. Serves any number
// of contexts, from any number of threads. In a forked child it does nothing:
// it neither reads the socket nor sends, and its destructor leaves all to the
// process that made it.
class Engine {
 public:
  // At an address of this host; settings say which ports will do. Warns once of
  // a receive buffer that the kernel cut short and of injected faults. Throws
  // gloo::Exception that names a port range in use, an MTU too small or
  // settings that contradict each other.
  Engine(const sockaddr_storage& address, const Settings& settings);
  ~Engine();

  // Throws gloo::InvalidOperationException in a forked child.
  ::ubt::Driver& driver();
  // Whether it was made by this process, not by one that forked it.
  bool isOfThisProcess() const { return home_.isThis(); }
  const ::ubt::SocketAddress& address() const {
    return driver_->socket().address();
  }
  const Settings& settings() const { return settings_; }
  // Payload bytes of one slot that this host's interface allows.
  size_t slotBytesMax() const { return slotBytesMax_; }
  // Bytes of a datagram beside its slot.
  static size_t aroundSlotBytes(::ubt::AuthMode auth);

 private:
  const ::ubt::HomeProcess home_;
  const Settings settings_;
  std::unique_ptr<::ubt::Driver> driver_;  // never null
  const size_t slotBytesMax_;
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
