// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/transport/device.h>

#include <memory>

// A device on the loopback interface: the only difference between transports.
std::shared_ptr<gloo::transport::Device> createDevice();
