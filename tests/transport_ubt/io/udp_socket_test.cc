// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/udp_socket.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "tests/transport_ubt/io/loopback.h"

namespace ubt {
namespace {

constexpr int64_t kWaitNs = 10000000000;
constexpr int kEcnBits = 3;  // of TOS and traffic class

UdpSocket::Options onLoopback6() {
  sockaddr_storage storage{};
  auto* const address = reinterpret_cast<sockaddr_in6*>(&storage);
  address->sin6_family = AF_INET6;
  address->sin6_addr = in6addr_loopback;
  UdpSocket::Options options;
  options.address = SocketAddress(storage, 0);
  return options;
}

// Whether the datagrams that arrive next are marked, one for each.
std::vector<bool> marksOf(UdpSocket* socket, size_t datagrams) {
  std::vector<bool> marks;
  while (marks.size() < datagrams) {
    socket->wait(-1, false, kWaitNs);
    if (!socket->receive([&](TimePoint, const std::byte*, size_t, bool marked) {
          marks.push_back(marked);
        })) {
      break;  // none came
    }
  }
  return marks;
}

UdpSocket::Sent send(UdpSocket* socket, const SocketAddress& to, bool train) {
  std::string text(2000, 'x');
  const iovec piece{text.data(), text.size()};
  return socket->send(to, &piece, 1, 1000, train);
}

class UdpSocketTest : public ::testing::TestWithParam<bool> {
 protected:
  UdpSocketTest()
      : sender_(GetParam() ? onLoopback6() : onLoopback()),
        receiver_(GetParam() ? onLoopback6() : onLoopback()) {}

  int level() const { return GetParam() ? IPPROTO_IPV6 : IPPROTO_IP; }
  int field() const { return GetParam() ? IPV6_TCLASS : IP_TOS; }
  // As a queue on the way would.
  void mark(int value) {
    ASSERT_EQ(setsockopt(sender_.fd(), level(), field(), &value, sizeof(value)),
              0);
  }

  UdpSocket sender_;
  UdpSocket receiver_;
};

TEST_P(UdpSocketTest, AsksForMarksInPlaceOfDrops) {
  int value = 0;
  socklen_t length = sizeof(value);
  ASSERT_EQ(getsockopt(sender_.fd(), level(), field(), &value, &length), 0);
  EXPECT_EQ(value & kEcnBits, 2);  // ECT(0)
}

TEST_P(UdpSocketTest, TellsWhatTheNetworkMarked) {
  ASSERT_EQ(send(&sender_, receiver_.address(), false), UdpSocket::Sent::kYes);
  EXPECT_EQ(marksOf(&receiver_, 1), std::vector<bool>{false});
  mark(3);  // CE
  ASSERT_EQ(send(&sender_, receiver_.address(), false), UdpSocket::Sent::kYes);
  EXPECT_EQ(marksOf(&receiver_, 1), std::vector<bool>{true});
}

TEST_P(UdpSocketTest, AMarkedTrainHasMarkedDatagrams) {
  mark(3);
  ASSERT_EQ(send(&sender_, receiver_.address(), true), UdpSocket::Sent::kYes);
  EXPECT_EQ(marksOf(&receiver_, 2), (std::vector<bool>{true, true}));
}

TEST_P(UdpSocketTest, APathThatClearsTheFieldMarksNothing) {
  mark(0);
  ASSERT_EQ(send(&sender_, receiver_.address(), true), UdpSocket::Sent::kYes);
  EXPECT_EQ(marksOf(&receiver_, 2), (std::vector<bool>{false, false}));
}

TEST(UdpSocket, CountsWhatItsBufferHadNoRoomFor) {
  UdpSocket sender(onLoopback());
  UdpSocket::Options options = onLoopback();
  options.receiveBufferBytes = 8 << 10;
  UdpSocket receiver(options);
  for (int i = 0; i < 100; i++) {
    ASSERT_EQ(send(&sender, receiver.address(), false), UdpSocket::Sent::kYes);
  }
  size_t came = 0;
  const auto take = [&](TimePoint, const std::byte*, size_t, bool) { came++; };
  while (receiver.receive(take)) {
  }
  EXPECT_EQ(receiver.overflows(), 0u);
  ASSERT_EQ(send(&sender, receiver.address(), false), UdpSocket::Sent::kYes);
  receiver.wait(-1, false, kWaitNs);
  ASSERT_TRUE(receiver.receive(take));
  EXPECT_EQ(receiver.overflows() + came, 101u);
}

INSTANTIATE_TEST_SUITE_P(BothFamilies, UdpSocketTest, ::testing::Bool());

}  // namespace
}  // namespace ubt
