// SPDX-License-Identifier: Apache-2.0
//
// The ranks' mesh is Gloo's own over TCP. It does not use their test network.
#include "transport_ubt/bounded/path_agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "algorithms/context_mesh.h"
#include "tests/conformance/device_factory.h"
#include "tests/conformance/local_ranks.h"
#include "tests/support/two_hosts.h"
#include "tests/transport_ubt/io/loopback.h"
#include "transport_ubt/bounded/key_exchange.h"
#include "transport_ubt/core/wire/packet_header.h"
#include "transport_ubt/kernels/reduction_kernels.h"

namespace ubt {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kRanks = test::TwoHosts::kRanks;
constexpr size_t kAround = PacketHeader::kBytes;
constexpr size_t kFullSlot =
    (test::TwoHosts::kMtuBytes - 28 - kAround) / 32 * 32;
constexpr size_t kSlotOf1500 = (1500 - 28 - kAround) / 32 * 32;
// On loopback.
constexpr size_t kLargeSlot = (UdpSocket::kTrainBytesMax - kAround) / 32 * 32;
constexpr std::chrono::seconds kLong{20};

class Agreement : public ::testing::Test {
 protected:
  void listenAt(const SocketAddress& address) {
    Driver::Options options;
    options.socket.address = address;
    drivers_.push_back(std::make_unique<Driver>(options, reductionKernels()));
  }

  // By rank. Each path keeps the objects that it uses.
  std::vector<PathAgreement::Agreed> agree(size_t slotBytes = kFullSlot) {
    std::vector<KeyExchange> exchanges(kRanks);
    std::vector<PublicKey> all;
    std::vector<SocketAddress> addresses;
    for (int rank = 0; rank < kRanks; rank++) {
      all.push_back(exchanges[rank].publicKey());
      addresses.push_back(drivers_[rank]->socket().address());
    }
    std::vector<PathAgreement::Agreed> agreed(kRanks);
    EXPECT_EQ(mesh_.run([&](const auto& context) {
      const int rank = context->rank;
      PathAgreement::Setup setup;
      setup.epoch = KeyExchange::epoch(all);
      setup.keys = exchanges[rank].derive(rank, all, "secret");
      setup.addresses = addresses;
      setup.slotBytes = slotBytes;
      setup.aroundBytes = kAround;
      PathAgreement agreement(
          gloo::contextMesh(*context), drivers_[rank].get(), setup);
      agreed[rank] = agreement.run(kLong);
    }),
              "");
    return agreed;
  }

  std::vector<std::unique_ptr<Driver>> drivers_;
  gloo::testing::LocalRanks mesh_{gloo::testing::tcpTransport(), kRanks};
};

class PathAgreementTest : public Agreement {
 protected:
  void SetUp() override {
    if (!test::PrivateNetwork::possible()) {
      GTEST_SKIP() << "needs the right to make network namespaces, and `ip`";
    }
    hosts_ = std::make_unique<test::TwoHosts>();
    for (int rank = 0; rank < kRanks; rank++) {
      hosts_->of(rank).within(
          [&] { listenAt(test::TwoHosts::addressOf(rank)); });
    }
  }

  std::string nameOf(int rank) {
    return "rank " + std::to_string(rank) + " (" +
           drivers_[rank]->socket().address().str() + ")";
  }

  std::unique_ptr<test::TwoHosts> hosts_;
};

// Two such slots do not fit a train.
TEST_F(Agreement, LargeSlotsNeedNoTrains) {
  for (int rank = 0; rank < kRanks; rank++) {
    listenAt(loopback());
  }
  for (const PathAgreement::Agreed& agreed : agree(kLargeSlot)) {
    EXPECT_EQ(agreed.slotBytes, kLargeSlot);
    EXPECT_THAT(agreed.losesTrains, IsEmpty());
    EXPECT_THAT(agreed.warnings, IsEmpty());
  }
}

TEST_F(PathAgreementTest, IsOnTheLargestSlotWhereAllPathsCarryIt) {
  for (const PathAgreement::Agreed& agreed : agree()) {
    EXPECT_EQ(agreed.slotBytes, kFullSlot);
    EXPECT_THAT(agreed.losesTrains, IsEmpty());
    EXPECT_THAT(agreed.warnings, IsEmpty());
  }
}

TEST_F(PathAgreementTest, IsOnTheSizeOfASmallerRoute) {
  hosts_->here().run("ip route add 10.0.0.2/32 dev here mtu 1500");
  const auto all = agree();
  for (const PathAgreement::Agreed& agreed : all) {
    EXPECT_EQ(agreed.slotBytes, kSlotOf1500);
    EXPECT_THAT(agreed.losesTrains, IsEmpty());
  }
  ASSERT_THAT(all[0].warnings, SizeIs(1));
  EXPECT_THAT(all[0].warnings[0],
              AllOf(HasSubstr("to " + nameOf(1)), HasSubstr("GLOO_UBT_MTU")));
  EXPECT_THAT(all[1].warnings, IsEmpty());
  EXPECT_THAT(all[2].warnings, IsEmpty());
}

// No ICMP error comes back. A hop sees the segments of a train.
TEST_F(PathAgreementTest, IsOnTheSizeOfAHopThatDropsLargerOnesSilently) {
  hosts_->here().run("ip link set here gso_max_segs 1");
  hosts_->there().drop("ip saddr 10.0.0.1 meta length > 1500");
  const auto all = agree();
  for (const PathAgreement::Agreed& agreed : all) {
    EXPECT_EQ(agreed.slotBytes, kSlotOf1500);
  }
  EXPECT_THAT(all[0].losesTrains, IsEmpty());
  EXPECT_THAT(all[0].warnings,
              AllOf(SizeIs(2),
                    Contains(HasSubstr("to " + nameOf(1))),
                    Contains(HasSubstr("to " + nameOf(2)))));
}

// As an interface does that segments wrongly.
TEST_F(PathAgreementTest, NamesThePathsThatLoseTrains) {
  hosts_->there().drop(
      "ip saddr 10.0.0.1 ip daddr 10.0.0.2 meta length > 9000");
  const auto all = agree();
  for (const PathAgreement::Agreed& agreed : all) {
    EXPECT_EQ(agreed.slotBytes, kFullSlot);
  }
  EXPECT_THAT(all[0].losesTrains, ElementsAre(1));
  ASSERT_THAT(all[0].warnings, SizeIs(1));
  EXPECT_THAT(all[0].warnings[0],
              AllOf(HasSubstr("trains"),
                    HasSubstr("to " + nameOf(1)),
                    HasSubstr("ethtool")));
  for (int rank = 1; rank < kRanks; rank++) {
    EXPECT_THAT(all[rank].losesTrains, IsEmpty());
    EXPECT_THAT(all[rank].warnings, IsEmpty());
  }
}

TEST_F(PathAgreementTest, NamesAPathThatIsBlockedOneWay) {
  hosts_->there().drop("ip saddr 10.0.0.1 ip daddr 10.0.0.2 udp dport 1-65535");
  const auto all = agree();
  for (const PathAgreement::Agreed& agreed : all) {
    EXPECT_EQ(agreed.slotBytes, kFullSlot);
  }
  ASSERT_THAT(all[0].warnings, SizeIs(1));
  EXPECT_THAT(all[0].warnings[0],
              AllOf(HasSubstr("to " + nameOf(1)),
                    HasSubstr("GLOO_UBT_PORTS"),
                    HasSubstr("GLOO_SOCKET_IFNAME")));
  ASSERT_THAT(all[1].warnings, SizeIs(1));
  EXPECT_THAT(all[1].warnings[0], HasSubstr("from " + nameOf(0)));
  EXPECT_THAT(all[2].warnings, IsEmpty());
}

}  // namespace
}  // namespace ubt
