// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/address.h"

#include <gloo/common/error.h>
#include <gloo/transport/tcp/address.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <string>
#include <vector>

namespace gloo {
namespace transport {
namespace ubt {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<char> tcpBytes(uint32_t host = INADDR_LOOPBACK) {
  sockaddr_storage storage{};
  storage.ss_family = AF_INET;
  auto* const ipv4 = reinterpret_cast<sockaddr_in*>(&storage);
  ipv4->sin_addr.s_addr = htonl(host);
  ipv4->sin_port = htons(5000);
  return tcp::Address(storage).bytes();
}

Hello hello() {
  Hello hello;
  hello.port = 40000;
  hello.slotBytesMax = 1440;
  hello.windowBytes = uint32_t{1} << 30;
  hello.minBytes = uint64_t{1} << 34;
  hello.groups = {{::ubt::Grouping::By::kCount, 12}, 0xfffffff0};
  for (size_t i = 0; i < hello.publicKey.size(); i++) {
    hello.publicKey[i] = static_cast<uint8_t>(i + 1);
  }
  return hello;
}

constexpr int kRank = 2;

Address addressOf(const Hello& hello, const std::string& secret = "secret") {
  return Address(tcpBytes(), hello, secret, kRank);
}

// The error of a rank with the secret for an address of rank `rank`; empty if
// it accepts the address.
std::string refusal(const std::vector<char>& bytes,
                    const std::string& secret = "secret",
                    int rank = kRank) {
  try {
    Address(bytes).check(secret, rank);
    return "";
  } catch (const ::gloo::IoException& error) {
    return error.what();
  }
}

TEST(Address, SurvivesTheStore) {
  const Address sent = addressOf(hello());
  const Address address(sent.bytes());
  EXPECT_EQ(address.tcp(), tcpBytes());
  EXPECT_EQ(address.hello().port, 40000);
  EXPECT_EQ(address.hello().slotBytesMax, 1440u);
  EXPECT_EQ(address.hello().windowBytes, uint32_t{1} << 30);
  EXPECT_EQ(address.hello().minBytes, uint64_t{1} << 34);
  EXPECT_EQ(address.hello().groups.grouping.str(), "12");
  EXPECT_EQ(address.hello().groups.host, 0xfffffff0);
  EXPECT_EQ(address.hello().publicKey, hello().publicKey);
  EXPECT_NE(address.str().find("127.0.0.1"), std::string::npos);
  EXPECT_NE(address.str().find("udp port 40000"), std::string::npos);
}

TEST(Address, AcceptsValidFields) {
  Hello big = hello();
  big.want(UINT64_MAX, {{::ubt::Grouping::By::kCount, UINT32_MAX}, UINT64_MAX});
  const Address address(addressOf(big).bytes());
  EXPECT_EQ(address.hello().minBytes, big.minBytes);
  EXPECT_GT(big.minBytes, uint64_t{1} << 40);
  EXPECT_EQ(address.hello().groups.grouping.count, (1U << 21) - 1);
  EXPECT_EQ(address.hello().groups.grouping.by, ::ubt::Grouping::By::kCount);
}

TEST(Address, ALoopbackAddressIsNamedIfThePeerIsOnAnotherHost) {
  Hello there = hello();
  there.groups.host = 1;
  constexpr uint32_t kDebians = 0x7f000101;  // 127.0.1.1
  constexpr uint32_t kReachable = 0x0a000002;
  const Address own(tcpBytes(kReachable), hello(), "secret", kRank);
  const Address ownLoopback(tcpBytes(kDebians), hello(), "secret", kRank);
  const Address peer(tcpBytes(kReachable), there, "secret", 5);
  const Address peerLoopback(tcpBytes(kDebians), there, "secret", 5);
  EXPECT_EQ(own.whyUnreachable(peer, 5), "");
  EXPECT_EQ(ownLoopback.whyUnreachable(addressOf(hello()), 5), "");
  EXPECT_THAT(own.whyUnreachable(peerLoopback, 5),
              HasSubstr("rank 5 is on another host, and its address, "));
  const std::string why = ownLoopback.whyUnreachable(peer, 5);
  EXPECT_THAT(why, HasSubstr("this rank's address, "));
  EXPECT_THAT(why, HasSubstr("127.0.1.1"));
  EXPECT_THAT(why, HasSubstr("GLOO_SOCKET_IFNAME or --interface"));
}

TEST(Address, FitsWhereGloosContextFactoryPutsIt) {
  EXPECT_EQ(addressOf(hello()).bytes().size(), 192u);
}

TEST(Address, OfAnotherTransportIsRefusedWithTheRemedy) {
  try {
    const Address address(tcpBytes());
    ADD_FAILURE() << "tcp's address was taken for ubt's";
  } catch (const ::gloo::IoException& error) {
    EXPECT_NE(std::string(error.what()).find("same device"), std::string::npos);
  }
}

TEST(Address, CutShortAnywhereIsRefused) {
  const std::vector<char> whole = addressOf(hello()).bytes();
  for (size_t from = 1; from < whole.size(); from++) {
    const std::vector<char> cut(whole.begin() + from, whole.end());
    EXPECT_THROW(Address{cut}, ::gloo::IoException) << from;
    const std::vector<char> front(whole.begin(), whole.begin() + from);
    EXPECT_THROW(Address{front}, ::gloo::IoException) << from;
  }
}

// A bit of any field, also of TCP's address.
TEST(Address, AlteredInAnyBitIsRefused) {
  const std::vector<char> right = addressOf(hello()).bytes();
  ASSERT_EQ(refusal(right), "");
  for (size_t bit = 0; bit < 8 * right.size(); bit++) {
    std::vector<char> altered = right;
    altered[bit / 8] = static_cast<char>(altered[bit / 8] ^ 1 << bit % 8);
    EXPECT_NE(refusal(altered), "") << "bit " << bit;
  }
}

TEST(Address, IsOfOneRankAndSecret) {
  const std::vector<char> right = addressOf(hello()).bytes();
  EXPECT_THAT(refusal(right, "another"),
              StartsWith("rank 2 has another secret (GLOO_UBT_SECRET)"));
  EXPECT_THAT(refusal(right, "secret", 1),
              StartsWith("rank 1 has another secret"));
}

// Gloo leaves uninitialized memory in a socket address.
TEST(Address, DoesNotDependOnUnusedBytes) {
  std::vector<char> dirty = tcpBytes();
  for (size_t at = sizeof(sockaddr_in); at < sizeof(sockaddr_storage); at++) {
    dirty[at] = 'x';
  }
  EXPECT_EQ(Address(dirty, hello(), "secret", kRank).bytes(),
            addressOf(hello()).bytes());
}

TEST(Address, OutOfBoundsIsRefusedWithRankAndField) {
  struct Spoiled {
    const char* field;
    void (*spoil)(Hello* hello);
  };
  for (const auto& spoiled :
       {Spoiled{"UDP port 0", [](Hello* hello) { hello->port = 0; }},
        Spoiled{"slot size in bytes 0",
                [](Hello* hello) { hello->slotBytesMax = 0; }},
        Spoiled{"slot size in bytes 32",
                [](Hello* hello) { hello->slotBytesMax = 32; }},
        Spoiled{"slot size in bytes 300",
                [](Hello* hello) { hello->slotBytesMax = 300; }},
        Spoiled{"slot size in bytes 65535",
                [](Hello* hello) { hello->slotBytesMax = 65535; }},
        Spoiled{"receive window in bytes (GLOO_UBT_WINDOW_BYTES) 0",
                [](Hello* hello) { hello->windowBytes = 0; }},
        Spoiled{"kind of GLOO_UBT_GROUPS 3", [](Hello* hello) {
                  hello->groups.grouping.by =
                      static_cast<::ubt::Grouping::By>(3);
                }}}) {
    Hello hello = ubt::hello();
    spoiled.spoil(&hello);
    EXPECT_THAT(
        refusal(addressOf(hello).bytes()),
        StartsWith(
            std::string("rank 2 sent an address that is out of bounds: ") +
            spoiled.field));
  }
}

TEST(Address, ThatLeadsNowhereIsRefused) {
  sockaddr_storage storage{};
  auto* const ipv4 = reinterpret_cast<sockaddr_in*>(&storage);
  ipv4->sin_family = AF_INET;
  const auto refused = [&](in_addr_t ip, uint16_t port) {
    ipv4->sin_addr.s_addr = htonl(ip);
    ipv4->sin_port = htons(port);
    return refusal(
        Address(tcp::Address(storage).bytes(), hello(), "secret", kRank)
            .bytes());
  };
  EXPECT_EQ(refused(INADDR_LOOPBACK, 5000), "");
  EXPECT_THAT(refused(INADDR_LOOPBACK, 0), HasSubstr("TCP port 0 "));
  EXPECT_THAT(refused(INADDR_ANY, 5000), HasSubstr("address 0.0.0.0:"));
}

}  // namespace
}  // namespace ubt
}  // namespace transport
}  // namespace gloo
