// SPDX-License-Identifier: Apache-2.0
//
// Real refusals: path_mtu_test.cc.
#include "transport_ubt/io/path_limits.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "tests/transport_ubt/io/loopback.h"
#include "transport_ubt/io/udp_socket.h"

namespace ubt {
namespace {

class PathLimitsTest : public ::testing::Test {
 protected:
  UdpSocket::Sent send(size_t datagrams) {
    std::vector<std::byte> bytes(100 * datagrams);
    const iovec piece{bytes.data(), bytes.size()};
    return limits_.send(peer_.address(), &piece, 1, 100, datagrams);
  }

  size_t received() {
    size_t count = 0;
    while (peer_.receive(
        [&](TimePoint, const std::byte*, size_t, bool) { count++; })) {
    }
    return count;
  }

  UdpSocket peer_{onLoopback()};
  UdpSocket socket_{onLoopback()};
  PathLimits limits_{&socket_,
                     [](const SocketAddress& to) { return to.str(); }};
};

TEST_F(PathLimitsTest, APathTakesTrainsAtFirst) {
  EXPECT_TRUE(limits_.takesTrains(peer_.address()));
  EXPECT_EQ(send(3), UdpSocket::Sent::kYes);
  EXPECT_EQ(received(), 3u);
}

TEST_F(PathLimitsTest, WhereTrainsGetLostASingleDatagramPasses) {
  limits_.trainsGetLost(peer_.address().withPort(1));  // of the same host
  EXPECT_FALSE(limits_.takesTrains(peer_.address()));
  EXPECT_EQ(send(3), UdpSocket::Sent::kRefused);
  EXPECT_EQ(received(), 0u);
  EXPECT_EQ(send(1), UdpSocket::Sent::kYes);
  EXPECT_EQ(received(), 1u);
}

TEST_F(PathLimitsTest, AForgottenHostTakesTrainsAgain) {
  limits_.trainsGetLost(peer_.address());
  limits_.forget(peer_.address());
  EXPECT_TRUE(limits_.takesTrains(peer_.address()));
}

TEST_F(PathLimitsTest, ASocketWithoutTrainsSendsNone) {
  UdpSocket::Options options = onLoopback();
  options.segmentation = false;
  UdpSocket alone(options);
  const PathLimits limits(&alone,
                          [](const SocketAddress& to) { return to.str(); });
  EXPECT_FALSE(limits.takesTrains(peer_.address()));
}

}  // namespace
}  // namespace ubt
