// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/path_probe.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "transport_ubt/core/wire/packet_header.h"
#include "transport_ubt/io/path_probes.h"

namespace ubt {
namespace {

constexpr int kRanks = 3;
constexpr uint64_t kEpoch = 0x1122334455667788;
constexpr uint32_t kSlot = 1408;
constexpr std::chrono::milliseconds kNow{0};

AuthKey keyOf(int rank) {
  AuthKey key{};
  key.fill(static_cast<uint8_t>(rank + 1));
  return key;
}

// From rank 1 to rank 0.
PathProbe probe() {
  PathProbe probe;
  probe.epoch = kEpoch;
  probe.source = 1;
  probe.slotBytes = kSlot;
  return probe;
}

class PathProbesTest : public ::testing::Test {
 protected:
  bool take(const std::vector<std::byte>& datagram) {
    return probes_.take(datagram.data(), datagram.size());
  }

  PathProbes probes_;
  PathProbes::Listener listener_{
      &probes_, kEpoch, 0, {keyOf(0), keyOf(1), keyOf(2)}};
};

TEST_F(PathProbesTest, KnowTheLargestSlotOfEachRank) {
  PathProbe large = probe();
  large.slotBytes = kSlot + 32;
  for (const PathProbe& sent : {probe(), large, probe()}) {
    EXPECT_TRUE(take(sent.encode(keyOf(1), 2000)));
  }
  EXPECT_EQ(listener_.slotBytes(), (std::vector<uint32_t>{0, kSlot + 32, 0}));
  EXPECT_FALSE(listener_.await(1, kNow));
  PathProbe other = probe();
  other.source = 2;
  EXPECT_TRUE(take(other.encode(keyOf(2), 2000)));
  EXPECT_TRUE(listener_.await(kSlot, kNow));
  EXPECT_FALSE(listener_.await(kSlot + 1, kNow));
}

TEST_F(PathProbesTest, BelieveNothingThatIsAlteredOrCut) {
  const std::vector<std::byte> right = probe().encode(keyOf(1), 200);
  for (size_t bit = 0; bit < 8 * PathProbe::kBytesMin; bit++) {
    std::vector<std::byte> altered = right;
    altered[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    take(altered);
  }
  for (size_t bytes = 0; bytes < right.size(); bytes++) {
    take({right.begin(), right.begin() + bytes});
  }
  take(probe().encode(keyOf(2), 200));  // another's key
  EXPECT_EQ(listener_.slotBytes(), std::vector<uint32_t>(kRanks));
  take(right);
  EXPECT_EQ(listener_.slotBytes()[1], kSlot);
}

TEST_F(PathProbesTest, AreNoPackets) {
  PacketHeader header;
  const std::vector<std::byte> datagram = probe().encode(keyOf(1), 200);
  EXPECT_FALSE(PacketHeader::decode(datagram.data(), datagram.size(), &header));
}

// A late probe is no datagram of a session, either.
TEST(PathProbes, AreTakenWithoutAListener) {
  PathProbes probes;
  std::vector<std::byte> datagram = probe().encode(keyOf(1), 200);
  EXPECT_TRUE(probes.take(datagram.data(), datagram.size()));
  datagram[0] ^= std::byte{1};
  EXPECT_FALSE(probes.take(datagram.data(), datagram.size()));
}

}  // namespace
}  // namespace ubt
