// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/connect_to_any.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace gloo {
namespace rendezvous {
namespace {

using std::chrono::milliseconds;

std::chrono::steady_clock::time_point in(int ms) {
  return std::chrono::steady_clock::now() + milliseconds(ms);
}

// A port of the loopback.
class Listener {
 public:
  Listener() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    auto* const in = reinterpret_cast<sockaddr_in*>(&address_.storage);
    in->sin_family = AF_INET;
    in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address_.length = sizeof(*in);
    auto* const generic = reinterpret_cast<sockaddr*>(&address_.storage);
    EXPECT_EQ(bind(fd_, generic, address_.length), 0);
    EXPECT_EQ(getsockname(fd_, generic, &address_.length), 0);
  }
  ~Listener() {
    for (const int fd : others_) {
      close(fd);
    }
    close(fd_);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  const TcpAddress& address() const { return address_; }
  void listen() { EXPECT_EQ(::listen(fd_, 8), 0); }
  // Fills the queue of connections. The kernel then drops new ones, like a
  // firewall.
  void dropAll() {
    EXPECT_EQ(::listen(fd_, 0), 0);
    for (int i = 0; i < 4; i++) {
      others_.push_back(
          socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      const int begun =
          connect(others_.back(),
                  reinterpret_cast<const sockaddr*>(&address_.storage),
                  address_.length);
      EXPECT_TRUE(begun == 0 || errno == EINPROGRESS);
    }
  }
  bool isPeerOf(int fd) const {
    sockaddr_in peer{};
    socklen_t length = sizeof(peer);
    return getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) == 0 &&
           peer.sin_port ==
               reinterpret_cast<const sockaddr_in*>(&address_.storage)
                   ->sin_port;
  }

 private:
  const int fd_;
  TcpAddress address_;
  std::vector<int> others_;
};

TEST(ConnectToAny, AnAddressThatDropsAllDoesNotHoldUpTheNext) {
  Listener dropping;
  dropping.dropAll();
  Listener listening;
  listening.listen();
  int fd = -1;
  // A share of this deadline would be longer than the test may take.
  ASSERT_EQ(
      connectToAny({dropping.address(), listening.address()}, in(3600000), &fd),
      0);
  EXPECT_TRUE(listening.isPeerOf(fd));
  close(fd);
  // Also if little time is left.
  ASSERT_EQ(connectToAny(
                {dropping.address(), dropping.address(), listening.address()},
                in(600),
                &fd),
            0);
  EXPECT_TRUE(listening.isPeerOf(fd));
  close(fd);
}

TEST(ConnectToAny, TheFirstAddressThatAnswersIsTaken) {
  Listener first;
  first.listen();
  Listener second;
  second.listen();
  int fd = -1;
  ASSERT_EQ(connectToAny({first.address(), second.address()}, in(20000), &fd),
            0);
  EXPECT_TRUE(first.isPeerOf(fd));
  close(fd);
}

TEST(ConnectToAny, AnAddressThatRefusesIsPassedOver) {
  Listener refusing;  // it does not listen
  Listener listening;
  listening.listen();
  int fd = -1;
  ASSERT_EQ(
      connectToAny({refusing.address(), listening.address()}, in(20000), &fd),
      0);
  EXPECT_TRUE(listening.isPeerOf(fd));
  close(fd);
}

TEST(ConnectToAny, SaysWhyNoAddressAnswers) {
  Listener refusing;
  Listener dropping;
  dropping.dropAll();
  int fd = -1;
  EXPECT_EQ(connectToAny({refusing.address()}, in(20000), &fd), ECONNREFUSED);
  EXPECT_EQ(connectToAny({refusing.address(), refusing.address()}, in(0), &fd),
            ECONNREFUSED);
  EXPECT_EQ(
      connectToAny({dropping.address(), refusing.address()}, in(100), &fd),
      ETIMEDOUT);
  TcpAddress unknown;
  unknown.storage.ss_family = AF_MAX;
  EXPECT_EQ(connectToAny({unknown}, in(100), &fd), EAFNOSUPPORT);
}

}  // namespace
}  // namespace rendezvous
}  // namespace gloo
