// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "transport_ubt/io/driver.h"
#include "transport_ubt/settings.h"

namespace gloo {
namespace transport {
namespace ubt {

// One UDP socket and what drives the bounded protocol on it. Serves any number
// of contexts, from any number of threads.
class Engine {
 public:
  // At an address of this host; settings say which ports will do. Warns once of
  // a receive buffer that the kernel cut short and of injected faults. Throws
  // gloo::Exception that names a port range in use or an MTU too small.
  Engine(const sockaddr_storage& address, const Settings& settings);

  ::ubt::Driver& driver() { return *driver_; }
  const Settings& settings() const { return settings_; }
  // Payload bytes of one slot that this host's interface allows.
  size_t slotBytesMax() const { return slotBytesMax_; }

 private:
  const Settings settings_;
  const std::unique_ptr<::ubt::Driver> driver_;
  const size_t slotBytesMax_;
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
