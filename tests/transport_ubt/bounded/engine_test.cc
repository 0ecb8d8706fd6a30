// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/transport_ubt/io/loopback.h"

namespace ubt {
namespace {

sockaddr_storage here() {
  sockaddr_storage storage{};
  const SocketAddress address = loopback();
  std::memcpy(&storage, address.data(), address.size());
  return storage;
}

// Larger and smaller than a socket's buffer is without it.
TEST(Engine, HasABufferForTheWindowOfItsSettings) {
  for (const int bytes : {64 << 20, 1 << 20}) {
    UdpSocket::Options options = onLoopback();
    options.receiveBufferBytes = bytes;
    const int granted = UdpSocket(options).receiveBufferBytes();
    Settings settings;
    settings.windowBytes = bytes;
    Engine engine(here(), settings);
    EXPECT_EQ(engine.driver().windowBytes(),
              static_cast<uint64_t>(std::min(bytes, granted / 2)));
  }
}

}  // namespace
}  // namespace ubt
