// SPDX-License-Identifier: Apache-2.0
#include "tests/programs/create_device.h"
#include "transport_ubt/device.h"

std::shared_ptr<gloo::transport::Device> createDevice() {
  return gloo::transport::ubt::CreateDevice("127.0.0.1");
}
