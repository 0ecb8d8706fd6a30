// SPDX-License-Identifier: Apache-2.0
#include <gloo/transport/tcp/device.h>

#include "tests/programs/create_device.h"

std::shared_ptr<gloo::transport::Device> createDevice() {
  return gloo::transport::tcp::CreateDevice("127.0.0.1");
}
