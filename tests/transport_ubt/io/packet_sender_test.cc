// SPDX-License-Identifier: Apache-2.0
//
// An endpoint that always has another datagram to send: with slots this small,
// no control record fits next to the clocks, so each record waits forever.

#include "transport_ubt/io/packet_sender.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <future>
#include <vector>

#include "tests/transport_ubt/io/loopback.h"
#include "transport_ubt/core/session/endpoint.h"
#include "transport_ubt/io/driver.h"
#include "transport_ubt/io/steady_now.h"
#include "transport_ubt/kernels/reduction_kernels.h"

namespace ubt {
namespace {

using namespace std::chrono_literals;

// A longer turn counts as endless.
constexpr auto kEndless = 20s;
constexpr int kTrains = 4;

Session::Setup endless() {
  Session::Setup setup;
  setup.size = 2;
  setup.epoch = 1;
  setup.slotBytesMax = ShardLayout::kSlotStep;
  setup.keys.resize(setup.size);
  setup.windowBytes.assign(setup.size, 1 << 20);
  return setup;
}

OpShape shapeOf(const std::vector<float>& bucket) {
  OpShape shape;
  shape.elements = bucket.size();
  shape.fingerprint = Options().fingerprint();
  return shape;
}

std::byte* bytesOf(std::vector<float>* bucket) {
  return reinterpret_cast<std::byte*>(bucket->data());
}

class PacketSenderTest : public ::testing::TestWithParam<bool> {
 protected:
  PacketSenderTest()
      : peer_(onLoopback()),
        socket_(onLoopback()),
        endpoint_(Endpoint::Limits(), reductionKernels()) {
    faults_.duplicate = GetParam() ? 0.5 : 0;
  }

  UdpSocket peer_;
  UdpSocket socket_;
  Endpoint endpoint_;
  FaultOptions faults_;
};

TEST_P(PacketSenderTest, ATurnEndsThoughThereIsAlwaysMore) {
  PacketSender sender(&endpoint_, &socket_, faults_);
  Session* const session = endpoint_.open(endless());
  sender.setAddresses(session, {SocketAddress(), peer_.address()}, {});
  std::vector<float> bucket(1000, 1);
  session->enter(steadyNow(), 0, shapeOf(bucket), bytesOf(&bucket));
  for (int turn = 0; turn < 3; turn++) {
    auto sent = std::async(std::launch::async,
                           [&] { return sender.send(steadyNow(), kTrains); });
    ASSERT_EQ(sent.wait_for(kEndless), std::future_status::ready);
    EXPECT_TRUE(sent.get());
    size_t received = 0;
    while (peer_.receive(
        [&](TimePoint, const std::byte*, size_t, bool) { received++; })) {
    }
    EXPECT_GT(received, 0u);
    // A fault may send each of them twice.
    EXPECT_LE(received,
              PacketSender::datagramsMax(kTrains) * (GetParam() ? 2 : 1));
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutFaults,
                         PacketSenderTest,
                         ::testing::Bool());

TEST(PacketSender, ACallEndsByItsTimeoutThoughThereIsAlwaysMore) {
  const UdpSocket peer(onLoopback());
  Driver::Options options;
  options.socket = onLoopback();
  Driver driver(options, reductionKernels());
  Session* const session =
      driver.open(endless(), {SocketAddress(), peer.address()});
  std::vector<float> bucket(1000, 1);
  OpReport report;
  Driver::Failure failure;
  auto call = std::async(std::launch::async, [&] {
    return driver.allreduce(
        session, 0, shapeOf(bucket), bytesOf(&bucket), 50ms, &report, &failure);
  });
  ASSERT_EQ(call.wait_for(kEndless), std::future_status::ready);
  EXPECT_FALSE(call.get());
  EXPECT_NE(failure.what.find("timed out"), std::string::npos) << failure.what;
  driver.close(session);
}

}  // namespace
}  // namespace ubt
