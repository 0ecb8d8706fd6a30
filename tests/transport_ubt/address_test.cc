// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/address.h"

#include <gloo/common/error.h>
#include <gloo/transport/tcp/address.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace gloo {
namespace transport {
namespace ubt {
namespace {

std::vector<char> tcpBytes() {
  sockaddr_storage storage{};
  storage.ss_family = AF_INET;
  auto* const ipv4 = reinterpret_cast<sockaddr_in*>(&storage);
  ipv4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ipv4->sin_port = htons(5000);
  return tcp::Address(storage).bytes();
}

Hello hello() {
  Hello hello;
  hello.port = 40000;
  hello.slotBytesMax = 1440;
  hello.windowBytes = uint32_t{1} << 31;
  hello.minBytes = uint64_t{1} << 34;
  hello.groups = {{Grouping::By::kCount, 12}, 0xfffffff0};
  for (size_t i = 0; i < hello.publicKey.size(); i++) {
    hello.publicKey[i] = static_cast<uint8_t>(i + 1);
  }
  return hello;
}

TEST(Address, SurvivesTheStore) {
  const Address sent(tcpBytes(), hello());
  const Address address(sent.bytes());
  EXPECT_EQ(address.tcp(), tcpBytes());
  EXPECT_EQ(address.hello().port, 40000);
  EXPECT_EQ(address.hello().slotBytesMax, 1440u);
  EXPECT_EQ(address.hello().windowBytes, uint32_t{1} << 31);
  EXPECT_EQ(address.hello().minBytes, uint64_t{1} << 34);
  EXPECT_EQ(address.hello().groups.grouping.str(), "12");
  EXPECT_EQ(address.hello().groups.host, 0xfffffff0);
  EXPECT_EQ(address.hello().publicKey, hello().publicKey);
  EXPECT_NE(address.str().find("127.0.0.1"), std::string::npos);
  EXPECT_NE(address.str().find("udp port 40000"), std::string::npos);
}

TEST(Address, TakesWhatItsFieldsHold) {
  Hello big = hello();
  big.want(UINT64_MAX, {{Grouping::By::kCount, UINT32_MAX}, UINT64_MAX});
  const Address address(Address(tcpBytes(), big).bytes());
  EXPECT_EQ(address.hello().minBytes, big.minBytes);
  EXPECT_GT(big.minBytes, uint64_t{1} << 40);
  EXPECT_EQ(address.hello().groups.grouping.count, (1U << 21) - 1);
  EXPECT_EQ(address.hello().groups.grouping.by, Grouping::By::kCount);
}

TEST(Address, FitsWhereGloosContextFactoryPutsIt) {
  EXPECT_LE(Address(tcpBytes(), hello()).bytes().size(), 192u);
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
  const std::vector<char> whole = Address(tcpBytes(), hello()).bytes();
  for (size_t from = tcpBytes().size(); from < whole.size(); from++) {
    const std::vector<char> cut(whole.begin() + from, whole.end());
    EXPECT_THROW(Address{cut}, ::gloo::IoException) << from;
    const std::vector<char> front(whole.begin(), whole.begin() + from);
    EXPECT_THROW(Address{front}, ::gloo::IoException) << from;
  }
}

TEST(Address, WithSenselessNumbersIsRefused) {
  for (const auto& spoil : {+[](Hello* hello) { hello->port = 0; },
                            +[](Hello* hello) { hello->slotBytesMax = 0; },
                            +[](Hello* hello) { hello->slotBytesMax = 100; },
                            +[](Hello* hello) { hello->slotBytesMax = 65535; },
                            +[](Hello* hello) { hello->windowBytes = 0; },
                            +[](Hello* hello) {
                              hello->groups.grouping.by =
                                  static_cast<Grouping::By>(3);
                            }}) {
    Hello spoiled = hello();
    spoil(&spoiled);
    EXPECT_THROW(Address(Address(tcpBytes(), spoiled).bytes()),
                 ::gloo::IoException);
  }
}

}  // namespace
}  // namespace ubt
}  // namespace transport
}  // namespace gloo
