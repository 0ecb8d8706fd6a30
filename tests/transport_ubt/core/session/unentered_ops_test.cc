// SPDX-License-Identifier: Apache-2.0
//
// Ops that peers announce and that no caller here enters: their owners, when
// they make room, and when they expire.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/transport_ubt/core/one_rank.h"

namespace ubt {
namespace {

constexpr int kHonest = 1;
constexpr int kGreedy = 2;
constexpr size_t kSlotBytes = 1024;
constexpr size_t kElements = 3 * 10 * kSlotBytes / sizeof(float);
constexpr size_t kArenaBytes = 288 << 10;
constexpr uint32_t kOpsMax = 256;  // of a session

OneRank::Setup setup(SumOrder order) {
  OneRank::Setup setup;
  setup.options.order = order;
  setup.size = 3;
  setup.slotBytes = kSlotBytes;
  setup.arenaBytes = kArenaBytes;
  setup.sessions = 4;
  return setup;
}

class UnenteredOps : public testing::Test {
 protected:
  explicit UnenteredOps(SumOrder order = SumOrder::kArrival)
      : rank_(setup(order)) {}

  // A peer begins an op with all its contributions to this rank's shard.
  // Returns how many of its ten slots find room.
  int begin(int peer, uint32_t tag, int session = 0) {
    return begin(&rank_, peer, tag, session);
  }
  static int begin(OneRank* rank, int peer, uint32_t tag, int session = 0) {
    const uint64_t before = rank->count(Counter::kAcceptedData);
    rank->sent();  // including credit
    rank->say(peer,
              {ControlRecord::announce(OpId{tag, 0}, floats(kElements))},
              session);
    PacketHeader header;
    header.op = OpId{tag, 0};
    header.elements = kElements;
    for (header.slot = 0; header.slot < 10; header.slot++) {
      rank->send(peer, header, kSlotBytes, session);
    }
    return static_cast<int>(rank->count(Counter::kAcceptedData) - before);
  }

  void fill() {
    for (uint32_t tag = 1000; tag < 1000 + kOpsMax; tag++) {
      begin(kGreedy, tag);
    }
    ASSERT_GT(rank_.count(Counter::kArenaFull), 0u);
  }

  OneRank rank_;
};

// Contributions are in the arena although the caller has entered.
class UnenteredOpsInRankOrder : public UnenteredOps {
 protected:
  UnenteredOpsInRankOrder() : UnenteredOps(SumOrder::kRank) {}
};

TEST_F(UnenteredOps, OfOneRankMakeWayForAnothersData) {
  fill();
  for (uint32_t tag = 0; tag < 4; tag++) {
    EXPECT_EQ(begin(kHonest, tag), 10);
  }
  EXPECT_GT(rank_.count(Counter::kEvictedOps), 0u);
  EXPECT_LE(rank_.arena().heldBytes(), kArenaBytes);
}

TEST_F(UnenteredOps, MakeWayForAnotherContexts) {
  fill();
  EXPECT_EQ(begin(kHonest, 0, 1), 10);
}

// In each of the three it has at most a third, and no further op fits.
TEST_F(UnenteredOps, OfOneRankInThreeContextsMakeWayForAFourth) {
  uint32_t tag = 1000;
  begin(kGreedy, tag);
  const size_t opBytes = rank_.arena().usedBytes();
  for (int session = 0; session < 3; session++) {
    const size_t most = (session + 1) * kArenaBytes / 3;
    while (rank_.arena().usedBytes() + opBytes <= most) {
      begin(kGreedy, ++tag, session);
    }
  }
  EXPECT_EQ(rank_.count(Counter::kEvictedOps), 0u);
  for (uint32_t own = 0; own < 4; own++) {
    EXPECT_EQ(begin(kHonest, own, 3), 10);
  }
}

TEST_F(UnenteredOpsInRankOrder, MakeWayForTheOwnCallers) {
  fill();
  std::vector<float> bucket(kElements, 1);
  const OpId id =
      rank_.session().enter(rank_.now, 5, floats(kElements), bytesOf(bucket));
  EXPECT_EQ(begin(kHonest, 5), 10);
  EXPECT_EQ(begin(kGreedy, 5), 10);
  EXPECT_FALSE(rank_.session().finished(id));
}

// For any amount of room that is too small for a further op, and for either
// rank having one op more.
TEST_F(UnenteredOps, OfRanksAlikeStay) {
  for (size_t arena = 150 << 10; arena < 250 << 10; arena += 2 << 10) {
    OneRank::Setup alone = setup(SumOrder::kArrival);
    alone.arenaBytes = arena;
    alone.sessions = 1;
    OneRank rank(alone);
    for (uint32_t tag = 0; tag < 60; tag++) {
      begin(&rank, tag % 2 == 0 ? kHonest : kGreedy, tag);
    }
    EXPECT_GT(rank.count(Counter::kArenaFull), 0u);
    EXPECT_EQ(rank.count(Counter::kEvictedOps), 0u) << arena;
  }
}

TEST_F(UnenteredOps, ThatTwoRanksAnnounceStay) {
  EXPECT_EQ(begin(kGreedy, 7), 10);
  EXPECT_EQ(begin(kHonest, 7), 10);
  fill();
  for (uint32_t tag = 0; tag < 20; tag++) {
    begin(kHonest, tag);
  }
  // It still exists: further data of it is a duplicate.
  EXPECT_EQ(begin(kHonest, 7), 0);
  EXPECT_GE(
      rank_.count(Counter::kDuplicateData) + rank_.count(Counter::kLateData),
      10u);
}

TEST_F(UnenteredOps, AreBoundedInNumberByRank) {
  // Without data, so that the arena does not fill up first.
  OneRank::Setup many = setup(SumOrder::kArrival);
  many.arenaBytes = 8 << 20;
  OneRank rank(many);
  for (uint32_t tag = 1000; tag < 1000 + 2 * kOpsMax; tag++) {
    rank.say(kGreedy, {ControlRecord::announce(OpId{tag, 0}, floats(100))});
  }
  EXPECT_EQ(rank.session().opsHeld(), kOpsMax);
  EXPECT_EQ(rank.count(Counter::kRefusedAnnounce), kOpsMax);
  for (uint32_t tag = 0; tag < 20; tag++) {
    rank.say(kHonest, {ControlRecord::announce(OpId{tag, 0}, floats(100))});
  }
  EXPECT_EQ(rank.count(Counter::kRefusedAnnounce), kOpsMax);
  EXPECT_EQ(rank.count(Counter::kEvictedOps), 20u);
  EXPECT_EQ(rank.session().opsHeld(), kOpsMax);
}

// If calls could wait longer than the session's timeout, an op would expire
// here while a peer still waits for it.
TEST_F(UnenteredOps, NoCallOutlastsTheSessionsTimeout) {
  const Duration timeout = rank_.session().options().timeout;
  std::vector<float> bucket(kElements, 1);
  const OpId id = rank_.session().enter(
      rank_.now, 5, floats(kElements), bytesOf(bucket), 20 * timeout);
  rank_.at(rank_.now + timeout - std::chrono::milliseconds(1));
  EXPECT_FALSE(rank_.session().finished(id));
  rank_.at(rank_.now + std::chrono::milliseconds(1));
  ASSERT_TRUE(rank_.session().finished(id));
  EXPECT_THAT(rank_.session().failure(id), testing::HasSubstr("timed out"));
}

// After twice the timeout no call waits for the op any longer.
TEST_F(UnenteredOps, Expire) {
  const Duration timeout = rank_.session().options().timeout;
  begin(kGreedy, 1);
  rank_.at(rank_.now + timeout);
  begin(kHonest, 2);
  EXPECT_EQ(rank_.session().opsHeld(), 2u);
  rank_.at(rank_.now + timeout);
  EXPECT_EQ(rank_.session().opsHeld(), 1u);
  EXPECT_EQ(rank_.count(Counter::kExpiredOps), 1u);
  rank_.at(rank_.now + timeout);
  EXPECT_EQ(rank_.session().opsHeld(), 0u);
  EXPECT_EQ(rank_.arena().usedBytes(), 0u);
}

// Two of three ranks have entered, so its clock ran and its shard is closed.
// Otherwise a caller that comes now would sum it again, with another result.
TEST_F(UnenteredOps, WithResultsStayEvenIfPeersHaveThem) {
  begin(kGreedy, 1);
  begin(kHonest, 1);
  for (const int peer : {kGreedy, kHonest}) {
    rank_.say(peer, {ControlRecord::about(ControlType::kDone, OpId{1, 0})});
  }
  rank_.at(rank_.now + 3 * rank_.session().options().timeout);
  EXPECT_EQ(rank_.session().opsHeld(), 1u);
  EXPECT_EQ(rank_.count(Counter::kExpiredOps), 0u);
}

}  // namespace
}  // namespace ubt
