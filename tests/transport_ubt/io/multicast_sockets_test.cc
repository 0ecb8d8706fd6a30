// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/multicast_sockets.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <string>

#include "tests/transport_ubt/io/loopback.h"
#include "transport_ubt/io/multicast_address.h"

namespace ubt {
namespace {

constexpr uint64_t kEpoch = 0x1122334455667788;
// Multicast on loopback arrives at once or not at all.
constexpr int64_t kWaitNs = 2000000000;

// Enough for all datagrams of a test.
constexpr int kBufferBytes = 1 << 20;

// A placeholder for a session; only its address matters.
const Session* session(int n) {
  static const std::byte places[16] = {};
  return reinterpret_cast<const Session*>(&places[n]);
}

std::string heard(MulticastSockets* groups) {
  std::string all;
  groups->receive(
      [&](TimePoint, const std::byte* datagram, size_t bytes, bool) {
        all.append(reinterpret_cast<const char*>(datagram), bytes);
      });
  return all;
}

void say(UdpSocket* socket, const SocketAddress& to, std::string text) {
  const iovec piece{text.data(), text.size()};
  EXPECT_EQ(socket->send(to, &piece, 1, text.size(), false),
            UdpSocket::Sent::kYes);
}

TEST(MulticastAddress, IsOfTheLocalScopesByTheEpoch) {
  EXPECT_EQ(multicastAddress(AF_INET, kEpoch, 4000).str(),
            "239.255.119.136:4000");
  EXPECT_EQ(multicastAddress(AF_INET6, kEpoch, 4000).str(),
            "[ff15::1122:3344:5566:7788]:4000");
}

// A thread that read the clock and then lost the CPU must not treat newer
// datagrams as older.
TEST(MulticastSockets, TakeNothingBeforeItWasSent) {
  UdpSocket sender(onLoopback());
  ASSERT_TRUE(sender.prepareMulticast(true));
  MulticastSockets groups(kBufferBytes);
  for (int n = 1; n <= 2; n++) {
    const auto group = multicastAddress(AF_INET, n, sender.address().port());
    ASSERT_TRUE(groups.join(session(n), group, sender.address()));
  }
  const auto first = multicastAddress(AF_INET, 1, sender.address().port());
  const auto second = multicastAddress(AF_INET, 2, sender.address().port());
  say(&sender, first, "one");
  sender.wait(groups.fd(), false, kWaitNs);
  TimePoint sent = kNever;
  bool secondCame = false;
  // During the first datagram's delivery the second one comes; the same look
  // finds it.
  const auto take = [&](TimePoint now, const std::byte*, size_t, bool) {
    if (sent == kNever) {
      sent = steadyNow();
      say(&sender, second, "two");
    } else {
      secondCame = true;
      EXPECT_GE(now, sent);
    }
  };
  EXPECT_TRUE(groups.receive(take));
  EXPECT_TRUE(secondCame || groups.receive(take));
  EXPECT_TRUE(secondCame);
}

TEST(MulticastSockets, HearDatagramsToTheirAddress) {
  UdpSocket sender(onLoopback());
  ASSERT_TRUE(sender.prepareMulticast(true));
  const auto group = multicastAddress(AF_INET, 1, sender.address().port());
  const auto other = multicastAddress(AF_INET, 2, sender.address().port());
  // Two ranks of one host.
  MulticastSockets one(kBufferBytes);
  MulticastSockets two(kBufferBytes);
  EXPECT_FALSE(one.any());
  ASSERT_TRUE(one.join(session(1), group, sender.address()));
  ASSERT_TRUE(one.join(session(2), other, sender.address()));
  ASSERT_TRUE(two.join(session(1), group, sender.address()));
  say(&sender, group, "all");
  sender.wait(two.fd(), false, kWaitNs);
  EXPECT_EQ(heard(&one), "all");
  EXPECT_EQ(heard(&two), "all");
  say(&sender, other, "others");
  sender.wait(one.fd(), false, kWaitNs);
  EXPECT_EQ(heard(&one), "others");
  EXPECT_EQ(heard(&two), "");
  two.leave(session(1));
  EXPECT_FALSE(two.any());
  say(&sender, group, "again");
  sender.wait(one.fd(), false, kWaitNs);
  EXPECT_EQ(heard(&one), "again");
  EXPECT_EQ(heard(&two), "");
}

TEST(MulticastSockets, HaveRoomForTheDataThatTheirBufferIsFor) {
  UdpSocket sender(onLoopback());
  ASSERT_TRUE(sender.prepareMulticast(true));
  const auto group = multicastAddress(AF_INET, 1, sender.address().port());
  // The kernel grants as much as to any socket of this process.
  UdpSocket::Options options = onLoopback();
  options.receiveBufferBytes = 8 << 20;
  const int granted = UdpSocket(options).receiveBufferBytes() / 2;
  MulticastSockets groups(granted);
  ASSERT_TRUE(groups.join(session(1), group, sender.address()));
  const std::string datagram(1400, 'x');
  const size_t count = granted / 2 / datagram.size();
  for (size_t i = 0; i < count; i++) {
    say(&sender, group, datagram);
  }
  size_t came = 0;
  const auto take = [&](TimePoint, const std::byte*, size_t, bool) { came++; };
  while (groups.receive(take)) {
  }
  EXPECT_EQ(came, count);
  EXPECT_EQ(groups.overflows(), 0u);
}

TEST(MulticastSockets, DoNotJoinOtherAddresses) {
  const UdpSocket socket(onLoopback());
  MulticastSockets groups(kBufferBytes);
  EXPECT_FALSE(
      groups.join(session(1), loopback().withPort(4000), socket.address()));
  EXPECT_FALSE(groups.any());
}

}  // namespace
}  // namespace ubt
