// SPDX-License-Identifier: Apache-2.0
//
// One rank's handling of data in an op that runs in groups.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/transport_ubt/core/one_rank.h"

namespace ubt {
namespace {

constexpr OpId kOp{5, 0};
constexpr size_t kSlotBytes = 64;
constexpr uint32_t kElements = 2 * 2 * 16;  // two slots for each of two members

// Rank 0 of four in two groups. Rank 1 is a member of its group, rank 2 its
// co-owner, rank 3 neither.
class HierarchicalOp : public ::testing::Test {
 protected:
  static OneRank::Setup setup() {
    OneRank::Setup setup;
    setup.size = 4;
    setup.groups = 2;
    setup.slotBytes = kSlotBytes;
    return setup;
  }
  static OpShape shape() {
    OpShape shape = floats(kElements);
    shape.fingerprint |= OpShape::kHierarchical;
    return shape;
  }
  static PacketHeader header(Stage stage, int contributors = 0) {
    PacketHeader header;
    header.stage = stage;
    header.op = kOp;
    header.hierarchical = true;
    header.elements = kElements;
    header.contributors = static_cast<uint16_t>(contributors);
    return header;
  }
  // How often this datagram increments that counter.
  uint64_t ended(Counter counter,
                 int from,
                 const PacketHeader& header,
                 size_t bytes = kSlotBytes) {
    const uint64_t before = rank_.count(counter);
    rank_.send(from, header, bytes);
    return rank_.count(counter) - before;
  }

  OneRank rank_{setup()};
};

TEST_F(HierarchicalOp, BeginsWithAMembersContributionAlone) {
  for (const int other : {2, 3}) {
    EXPECT_EQ(ended(Counter::kMismatched, other, header(Stage::kScatter)), 1u);
    EXPECT_EQ(rank_.session().opsHeld(), 0u);
    EXPECT_EQ(ended(Counter::kUnannounced, other, header(Stage::kBroadcast, 1)),
              1u);
  }
  EXPECT_EQ(ended(Counter::kAcceptedData, 1, header(Stage::kScatter)), 1u);
  EXPECT_EQ(rank_.session().opsHeld(), 1u);
}

TEST_F(HierarchicalOp, BeginsWithAnybodysAnnouncement) {
  rank_.say(3, {ControlRecord::announce(kOp, shape())});
  EXPECT_EQ(rank_.session().opsHeld(), 1u);
}

TEST_F(HierarchicalOp, AcceptsFromEachRankOnlyItsKindOfData) {
  rank_.say(3, {ControlRecord::announce(kOp, shape())});
  EXPECT_EQ(ended(Counter::kMismatched, 2, header(Stage::kScatter)), 1u);
  EXPECT_EQ(ended(Counter::kMismatched, 3, header(Stage::kScatter)), 1u);
  EXPECT_EQ(ended(Counter::kMismatched, 3, header(Stage::kBroadcast, 1)), 1u);
  // A sum has at most as many contributors as a group has members, and is never
  // partial.
  EXPECT_EQ(ended(Counter::kMismatched, 2, header(Stage::kBroadcast, 3)), 1u);
  PacketHeader partial = header(Stage::kBroadcast, 2);
  partial.partial = true;
  EXPECT_EQ(ended(Counter::kMismatched, 2, partial), 1u);
  EXPECT_EQ(ended(Counter::kAcceptedData, 1, partial), 1u);
  EXPECT_EQ(ended(Counter::kAcceptedData, 2, header(Stage::kBroadcast, 2)), 1u);
  // The ranks have not agreed on transforms there.
  PacketHeader transformed = header(Stage::kScatter);
  transformed.form = Form::kTransformed;
  EXPECT_EQ(ended(Counter::kMismatched, 1, transformed), 1u);
  // It rejects the op's data in its plain shape.
  PacketHeader plain = header(Stage::kScatter);
  plain.hierarchical = false;
  EXPECT_EQ(ended(Counter::kMismatched, 1, plain), 1u);
  PacketHeader far = header(Stage::kBroadcast, 2);
  far.slot = 2;
  EXPECT_EQ(ended(Counter::kMismatched, 2, far), 1u);
}

TEST_F(HierarchicalOp, ARankWithAPlainShapeDisagrees) {
  std::vector<float> bucket(kElements);
  const OpId id =
      rank_.session().enter(rank_.now, kOp.tag, shape(), bytesOf(bucket));
  rank_.say(3, {ControlRecord::announce(id, floats(kElements))});
  ASSERT_TRUE(rank_.session().finished(id));
  const std::string& why = rank_.session().failure(id);
  EXPECT_NE(why.find("rank 3 brings 64 x float32 with a flat algorithm"),
            std::string::npos)
      << why;
  EXPECT_NE(why.find("hierarchical"), std::string::npos) << why;
}

// The own caller never comes, but the owner does its work. It sends its group's
// sum to its co-owners, and the result to its member. The result is marked as
// lacking the other group's contributions.
TEST_F(HierarchicalOp, AnOwnersDutyWaitsForNoCaller) {
  OneRank::Setup none = setup();
  none.options.repair = RepairPolicy::kNone;
  OneRank rank_(none);
  for (const int rank : {1, 2, 3}) {
    rank_.say(rank, {ControlRecord::announce(kOp, shape())});
  }
  for (const uint32_t slot : {0, 1}) {
    PacketHeader contribution = header(Stage::kScatter);
    contribution.slot = slot;
    rank_.send(1, contribution, kSlotBytes);
  }
  rank_.send(2, header(Stage::kBroadcast, 2), kSlotBytes);
  const TimePoint start = rank_.now;
  std::vector<std::pair<int, PacketHeader>> data;
  for (int ms = 0; ms < 200; ms++) {
    rank_.now = start + std::chrono::milliseconds(ms);
    if (rank_.endpoint().nextDeadline() <= rank_.now) {
      rank_.endpoint().deadlinePassed(rank_.now);
    }
    for (const auto& sent : rank_.sent()) {
      PacketHeader header;
      ASSERT_TRUE(PacketHeader::decode(
          sent.packet.head, sent.packet.headBytes, &header));
      if (header.type == PacketType::kData) {
        data.emplace_back(sent.packet.peer, header);
      }
    }
  }
  std::vector<int> to;
  for (const auto& [peer, header] : data) {
    EXPECT_TRUE(header.hierarchical);
    EXPECT_EQ(header.stage, Stage::kBroadcast);
    to.push_back(peer);
    if (peer == 1) {
      EXPECT_EQ(header.contributors, header.slot == 0 ? 3 : 1);
      EXPECT_EQ(header.partial, header.slot == 1);
    } else {
      EXPECT_EQ(header.contributors, 1);
      EXPECT_FALSE(header.partial);
    }
  }
  std::sort(to.begin(), to.end());
  EXPECT_EQ(to, (std::vector<int>{1, 1, 2, 2}));
}

// When the scatter stage ends at an owner that hears of `early` ranks at once,
// and of `late` after that time: then it sends its group's sum.
Duration scatterEndsAfter(OneRank* rank,
                          const std::vector<int>& early,
                          int late,
                          Duration after) {
  const TimePoint start = rank->now;
  OpShape shape = floats(kElements);
  shape.fingerprint |= OpShape::kHierarchical;
  for (const int peer : early) {
    rank->say(peer, {ControlRecord::announce(kOp, shape)});
  }
  bool told = false;
  for (Duration passed{0}; passed < std::chrono::milliseconds(100);
       passed += std::chrono::milliseconds(1)) {
    rank->now = start + passed;
    if (!told && passed >= after) {
      told = true;
      rank->say(late, {ControlRecord::announce(kOp, shape)});
    }
    if (rank->endpoint().nextDeadline() <= rank->now) {
      rank->endpoint().deadlinePassed(rank->now);
    }
    for (const auto& sent : rank->sent()) {
      PacketHeader header;
      PacketHeader::decode(sent.packet.head, sent.packet.headBytes, &header);
      if (header.type == PacketType::kData && sent.packet.peer == 2) {
        return passed;
      }
    }
  }
  return Duration{0};
}

// Set by hand: 10 ms. A majority of four ranks is three, of any groups.
TEST_F(HierarchicalOp, TheClockStartsWhenMostRanksHaveEntered) {
  using std::chrono::milliseconds;
  EXPECT_EQ(scatterEndsAfter(&rank_, {2, 3}, 1, milliseconds(0)),
            milliseconds(10));
  for (const int wait : {4, 15, 80}) {
    OneRank late(setup());
    EXPECT_EQ(scatterEndsAfter(&late, {2, 3}, 1, milliseconds(wait)),
              milliseconds(wait + 10));
  }
  OneRank never(setup());
  EXPECT_EQ(scatterEndsAfter(&never, {2, 3}, 1, milliseconds(99)), Duration{0});
}

// Then its owners send sums without contributors.
TEST_F(HierarchicalOp, AGroupThatNeverEntersDelaysNoOther) {
  OneRank::Setup three = setup();
  three.size = 6;
  three.groups = 3;
  OneRank rank(three);
  EXPECT_EQ(scatterEndsAfter(&rank, {2, 3, 4}, 5, std::chrono::milliseconds(0)),
            std::chrono::milliseconds(10));
}

// Hosts with different numbers of ranks: all ranks form one group.
TEST(UnevenGroups, RunAsOne) {
  const RankGroups uneven({0, 0, 0, 1});
  EXPECT_FALSE(uneven.even());
  EXPECT_TRUE(RankGroups::equal(4, 2).even());
  Endpoint endpoint({1 << 20, 64 << 10, 1 << 20}, sim::plainReduction());
  Session::Setup setup;
  setup.size = 4;
  setup.slotBytesMax = kSlotBytes;
  setup.keys.resize(4);
  setup.windowBytes.assign(4, 1 << 20);
  setup.groups = uneven;
  EXPECT_FALSE(endpoint.open(setup)->hasGroups());
  setup.epoch = 1;
  setup.groups = RankGroups::equal(4, 2);
  EXPECT_TRUE(endpoint.open(setup)->hasGroups());
  setup.epoch = 2;
  setup.groups.reset();
  EXPECT_FALSE(endpoint.open(setup)->hasGroups());
}

}  // namespace
}  // namespace ubt
