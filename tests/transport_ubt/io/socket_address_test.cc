// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/socket_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <stdexcept>

namespace ubt {
namespace {

sockaddr_storage storage(int family, const char* text) {
  sockaddr_storage storage{};
  storage.ss_family = family;
  void* const host =
      family == AF_INET
          ? static_cast<void*>(
                &reinterpret_cast<sockaddr_in*>(&storage)->sin_addr)
          : &reinterpret_cast<sockaddr_in6*>(&storage)->sin6_addr;
  EXPECT_EQ(inet_pton(family, text, host), 1);
  return storage;
}

TEST(SocketAddress, IsIpv4WithAPort) {
  const SocketAddress address(storage(AF_INET, "10.1.2.3"), 40000);
  EXPECT_EQ(address.family(), AF_INET);
  EXPECT_EQ(address.port(), 40000);
  EXPECT_EQ(address.size(), sizeof(sockaddr_in));
  EXPECT_EQ(address.str(), "10.1.2.3:40000");
}

TEST(SocketAddress, IsIpv6WithAPort) {
  const SocketAddress address(storage(AF_INET6, "fe80::1"), 1);
  EXPECT_EQ(address.family(), AF_INET6);
  EXPECT_EQ(address.port(), 1);
  EXPECT_EQ(address.size(), sizeof(sockaddr_in6));
  EXPECT_EQ(address.str(), "[fe80::1]:1");
}

TEST(SocketAddress, ReplacesThePortThatWasThere) {
  sockaddr_storage with = storage(AF_INET, "127.0.0.1");
  reinterpret_cast<sockaddr_in*>(&with)->sin_port = htons(5);
  EXPECT_EQ(SocketAddress(with, 6).str(), "127.0.0.1:6");
}

TEST(SocketAddress, IsOfNoOtherFamily) {
  sockaddr_storage local{};
  local.ss_family = AF_UNIX;
  EXPECT_THROW(SocketAddress(local, 1), std::invalid_argument);
  EXPECT_THROW(SocketAddress(sockaddr_storage{}, 1), std::invalid_argument);
}

}  // namespace
}  // namespace ubt
