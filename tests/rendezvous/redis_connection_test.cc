// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/redis_connection.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "tests/rendezvous/failure.h"
#include "tests/support/redis_server.h"

namespace gloo {
namespace rendezvous {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

Deadline in(int ms) {
  return Clock::now() + milliseconds(ms);
}

std::unique_ptr<RedisConnection> connect(const std::string& url, int ms) {
  return std::make_unique<RedisConnection>(RedisUrl::parse(url), in(ms));
}

TEST(RedisConnection, TcpAndUnixSocket) {
  test::RedisServer server;
  for (const auto& url : {server.tcpUrl(), server.unixUrl()}) {
    auto connection = connect(url, 5000);
    EXPECT_EQ(connection->command({"PING"}, in(5000)).text, "PONG");
  }
}

TEST(RedisConnection, NameIsResolved) {
  test::RedisServer server;
  const auto url = "redis://localhost:" + std::to_string(server.port());
  EXPECT_EQ(connect(url, 5000)->command({"PING"}, in(5000)).text, "PONG");
}

TEST(RedisConnection, BinaryAndLargeValues) {
  test::RedisServer server;
  auto connection = connect(server.unixUrl(), 5000);
  std::string value(3 << 20, '\0');
  value[1] = '\r';
  connection->command({"SET", "k", value}, in(5000));
  EXPECT_EQ(connection->command({"GET", "k"}, in(5000)).text, value);
}

TEST(RedisConnection, DatabasesAreApart) {
  test::RedisServer server;
  auto zero = connect(server.unixUrl(), 5000);
  auto one = connect(server.unixUrl() + "?db=1", 5000);
  zero->command({"SET", "k", "v"}, in(5000));
  EXPECT_TRUE(one->command({"GET", "k"}, in(5000)).isNil());
  EXPECT_THAT(failure([&] { connect(server.tcpUrl() + "/999", 5000); }),
              HasSubstr("fewer databases"));
}

TEST(RedisConnection, Password) {
  test::RedisServer server("pa:ss");
  const auto port = std::to_string(server.port());
  EXPECT_NO_THROW(connect("redis://:pa%3Ass@127.0.0.1:" + port, 5000));
  EXPECT_NO_THROW(connect("redis://default:pa%3Ass@127.0.0.1:" + port, 5000));
  EXPECT_THAT(failure([&] { connect(server.tcpUrl(), 5000); }),
              HasSubstr("needs a password"));
  const auto wrong =
      failure([&] { connect("redis://:wrong@127.0.0.1:" + port, 5000); });
  EXPECT_THAT(wrong, HasSubstr("password is wrong"));
  EXPECT_THAT(wrong, ::testing::Not(HasSubstr(":wrong")));
}

TEST(RedisConnection, PasswordThatIsNotNeeded) {
  test::RedisServer server;
  const auto port = std::to_string(server.port());
  EXPECT_NO_THROW(connect("redis://:any@127.0.0.1:" + port, 5000));
}

TEST(RedisConnection, NoServer) {
  std::string tcp;
  std::string unix;
  {
    test::RedisServer server;
    tcp = server.tcpUrl();
    unix = server.unixUrl();
  }
  EXPECT_THAT(failure([&] { connect(tcp, 5000); }),
              HasSubstr("Is redis-server running there"));
  EXPECT_THAT(failure([&] { connect(unix, 5000); }),
              HasSubstr("Is redis-server running there"));
  EXPECT_THAT(failure([&] { connect("redis://no-such-host.invalid", 5000); }),
              HasSubstr("Cannot resolve"));
}

TEST(RedisConnection, StoppedServerDoesNotHang) {
  test::RedisServer server;
  auto connection = connect(server.unixUrl(), 5000);
  server.stop();
  const auto start = Clock::now();
  for (const auto& url : {server.tcpUrl(), server.unixUrl()}) {
    EXPECT_THAT(failure([&] { connect(url, 200); }),
                HasSubstr("did not answer"));
  }
  EXPECT_THAT(failure([&] { connection->command({"PING"}, in(200)); }),
              HasSubstr("did not answer"));
  EXPECT_LT(Clock::now() - start, milliseconds(2000));
  // A late reply must not be mistaken for the next command's.
  server.resume();
  EXPECT_THAT(failure([&] { connection->command({"PING"}, in(5000)); }),
              HasSubstr("failed earlier"));
}

TEST(RedisConnection, KilledServer) {
  test::RedisServer server;
  auto connection = connect(server.tcpUrl(), 5000);
  server.kill();
  EXPECT_THAT(failure([&] { connection->command({"PING"}, in(5000)); }),
              HasSubstr("Lost the connection"));
}

TEST(RedisConnection, SomethingElseListens) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(listener, generic, length), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, generic, &length), 0);
  std::thread other([listener] {
    const int fd = accept(listener, nullptr, nullptr);
    EXPECT_EQ(send(fd, "HTTP/1.1 400\r\n", 14, MSG_NOSIGNAL), 14);
    char buffer[256];
    while (recv(fd, buffer, sizeof(buffer), 0) > 0) {
    }
    close(fd);
  });
  const auto port = std::to_string(ntohs(address.sin_port));
  EXPECT_THAT(failure([&] { connect("redis://127.0.0.1:" + port, 5000); }),
              HasSubstr("does not speak Redis' protocol"));
  other.join();
  close(listener);
}

// As Redis 4 answers to the commands of streams.
TEST(RedisConnection, AServerThatIsTooOldIsNamed) {
  test::RedisServer server;
  auto connection = connect(server.unixUrl(), 5000);
  EXPECT_THAT(failure([&] {
                connection->command({"XADD4", "a", "*"}, in(5000));
              }),
              AllOf(HasSubstr("refused XADD4"),
                    HasSubstr("Streams need Redis 5 or later")));
}

TEST(RedisConnection, TransactionIsAllOrNothing) {
  test::RedisServer server;
  auto connection = connect(server.unixUrl(), 5000);
  const auto replies =
      connection->transaction({{"SET", "a", "1"}, {"INCR", "a"}}, in(5000));
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[1].integer, 2);
  EXPECT_THAT(
      failure([&] {
        connection->transaction({{"SET", "b", "1"}, {"NOSUCH"}}, in(5000));
      }),
      HasSubstr("refused NOSUCH"));
  EXPECT_TRUE(connection->command({"GET", "b"}, in(5000)).isNil());
}

}  // namespace
}  // namespace rendezvous
}  // namespace gloo
