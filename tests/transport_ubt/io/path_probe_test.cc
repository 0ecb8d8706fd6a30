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

  // By rank.
  std::vector<uint32_t> slotBytes() const {
    std::vector<uint32_t> all;
    for (const PathProbes::Heard& heard : listener_.heard()) {
      all.push_back(heard.slotBytes);
    }
    return all;
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
  EXPECT_EQ(slotBytes(), (std::vector<uint32_t>{0, kSlot + 32, 0}));
  EXPECT_FALSE(listener_.awaitAny(kNow));
  PathProbe other = probe();
  other.source = 2;
  EXPECT_TRUE(take(other.encode(keyOf(2), 2000)));
  EXPECT_TRUE(listener_.awaitAny(kNow));
  EXPECT_TRUE(listener_.awaitFull(kSlot, kNow));
  EXPECT_FALSE(listener_.awaitFull(kSlot + 1, kNow));
}

TEST_F(PathProbesTest, AwaitTrainsOfRanksThatSendSome) {
  for (const uint32_t source : {1, 2}) {
    PathProbe sent = probe();
    sent.source = source;
    sent.form = PathProbe::Form::kSingleToo;
    take(sent.encode(keyOf(source), 2000));
  }
  EXPECT_TRUE(listener_.awaitAny(kNow));
  for (const auto form :
       {PathProbe::Form::kTrainBegin, PathProbe::Form::kTrainEnd}) {
    EXPECT_FALSE(listener_.awaitFull(kSlot, kNow));
    for (const uint32_t source : {1, 2}) {
      PathProbe sent = probe();
      sent.source = source;
      sent.form = form;
      take(sent.encode(keyOf(source), 2000));
    }
  }
  EXPECT_TRUE(listener_.awaitFull(kSlot, kNow));
  EXPECT_EQ(listener_.heard()[2].inTrains, kSlot);
}

// Two of the largest slots do not fit a train. Smaller ones do.
TEST_F(PathProbesTest, TheLargestSlotSaysWhetherTrainsAreSent) {
  for (const uint32_t source : {1, 2}) {
    PathProbe large = probe();
    large.source = source;
    large.slotBytes = kSlot + 32;
    take(large.encode(keyOf(source), 2000));
    PathProbe small = large;
    small.slotBytes = kSlot;
    small.form = PathProbe::Form::kSingleToo;
    take(small.encode(keyOf(source), 2000));
  }
  EXPECT_TRUE(listener_.awaitFull(kSlot + 32, kNow));
}

TEST_F(PathProbesTest, AnUnknownFormIsNoProbe) {
  PathProbe odd = probe();
  odd.form = static_cast<PathProbe::Form>(4);
  EXPECT_FALSE(take(odd.encode(keyOf(1), 2000)));
}

// Its single datagrams may get lost, too.
TEST_F(PathProbesTest, ATrainIsNoSingleDatagram) {
  PathProbe sent = probe();
  sent.form = PathProbe::Form::kTrainEnd;
  take(sent.encode(keyOf(1), 2000));
  EXPECT_EQ(listener_.heard()[1].slotBytes, 0u);
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
  EXPECT_EQ(slotBytes(), std::vector<uint32_t>(kRanks));
  take(right);
  EXPECT_EQ(slotBytes()[1], kSlot);
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
