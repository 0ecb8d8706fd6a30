// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/transport/device.h>
#include <gloo/transport/tcp/attr.h>

#include <memory>
#include <string>

#include "transport_ubt/bounded/engine.h"
#include "transport_ubt/config/settings.h"

namespace gloo {
namespace transport {
namespace ubt {

using ::ubt::Engine;
using ::ubt::Settings;

// A device's attributes: an interface or host name as for tcp, and settings, by
// default from the GLOO_UBT_* variables.
struct attr : public tcp::attr {
  attr() = default;
  /* implicit */ attr(const char* host) : tcp::attr(host) {}
  /* implicit */ attr(const tcp::attr& other) : tcp::attr(other) {}

  Settings settings = Settings::fromEnvironment();
};

// Creates a device with the pairs and buffers of Gloo's tcp. On one UDP socket
// it adds a bounded path for the algorithms that ask for it. Serves any number
// of contexts. Throws gloo::Exception that names an unknown interface or host,
// a port range in use, or an MTU that is too small.
std::shared_ptr<::gloo::transport::Device> CreateDevice(const attr& attr);

// Contexts share ownership of their device. In a forked child of the process
// that created it, createContext() throws gloo::InvalidOperationException, and
// the destructors of the device and its contexts do nothing.
class Device : public ::gloo::transport::Device,
               public std::enable_shared_from_this<Device> {
 public:
  explicit Device(const attr& attr);
  ~Device() override;

  std::string str() const override;
  const std::string& getPCIBusID() const override;
  int getInterfaceSpeed() const override;
  std::shared_ptr<::gloo::transport::Context> createContext(int rank,
                                                            int size) override;

  const Settings& settings() const { return engine_->settings(); }

 private:
  std::shared_ptr<::gloo::transport::Device> tcp_;
  std::shared_ptr<Engine> engine_;
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
