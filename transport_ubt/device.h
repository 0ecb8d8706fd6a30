// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/transport/device.h>
#include <gloo/transport/tcp/attr.h>

#include <memory>
#include <string>

#include "transport_ubt/io/driver.h"
#include "transport_ubt/settings.h"

namespace gloo {
namespace transport {
namespace ubt {

// Where and how: an interface or host name as for tcp, and settings that by
// default come from the GLOO_UBT_* variables.
struct attr : public tcp::attr {
  attr() = default;
  /* implicit */ attr(const char* host) : tcp::attr(host) {}
  /* implicit */ attr(const tcp::attr& other) : tcp::attr(other) {}

  Settings settings = Settings::fromEnvironment();
};

// A device whose pairs and buffers are those of Gloo's tcp, and which adds,
// on one UDP socket, a bounded path for the algorithms that ask for it.
// Serves any number of contexts. Throws gloo::Exception that names an unknown
// interface or host, a port range in use, an MTU too small.
std::shared_ptr<::gloo::transport::Device> CreateDevice(const attr& attr);

class Device : public ::gloo::transport::Device,
               public std::enable_shared_from_this<Device> {
 public:
  explicit Device(const attr& attr);

  std::string str() const override;
  const std::string& getPCIBusID() const override;
  int getInterfaceSpeed() const override;
  std::shared_ptr<::gloo::transport::Context> createContext(int rank,
                                                            int size) override;

  // Internal to the transport.
  ::ubt::Driver& driver() { return *driver_; }
  const Settings& settings() const { return settings_; }
  // Payload bytes of one slot that this host's interface allows.
  size_t slotBytesMax() const { return slotBytesMax_; }

 private:
  const Settings settings_;
  std::shared_ptr<::gloo::transport::Device> tcp_;
  std::unique_ptr<::ubt::Driver> driver_;
  size_t slotBytesMax_ = 0;
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
