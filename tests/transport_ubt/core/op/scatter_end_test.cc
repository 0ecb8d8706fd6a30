// SPDX-License-Identifier: Apache-2.0
//
// When an owner ends its scatter stage although contributions are missing.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>

#include "tests/transport_ubt/core/one_op.h"

namespace ubt {
namespace {

using std::chrono::milliseconds;

// Rank 0 of three, without repair. Shards have three slots; senders mark the
// last two.
class EarlyEnd : public OneOp {
 protected:
  static constexpr Duration kPatience = milliseconds(1);

  void begin(int size) {
    options_.repair = RepairPolicy::kNone;
    OpBounds bounds = farAway();
    bounds.scatterPatience = bounds.broadcastPatience = kPatience;
    OneOp::begin(size, 3, bounds);
  }
  void marked(int rank) {
    contribution(rank, 0, false);
    contribution(rank, 1, true);
  }
};

TEST_F(EarlyEnd, ComesOnceTheMarksOfAllAreSeen) {
  begin(3);
  enter();
  marked(1);
  marked(2);
  contribution(2, 2, true);
  pass(kPatience / 2);
  EXPECT_FALSE(op_->hasResults());
  pass(kPatience);
  EXPECT_TRUE(op_->hasResults());
}

// Rank 1 stops before its last slot. Without the own caller, that slot would
// have one contribution of three.
TEST_F(EarlyEnd, WaitsForAMajorityInEverySlot) {
  begin(3);
  marked(1);
  marked(2);
  contribution(2, 2, true);
  pass(100 * kPatience);
  EXPECT_FALSE(op_->hasResults());
  enter();  // two of three
  pass(kPatience);
  EXPECT_TRUE(op_->hasResults());
}

// Two of three slots are closed, so the last one also gets half of the
// broadcast stage's time (Op::setScatterDeadline).
TEST_F(EarlyEnd, NeverComesWhereAMajorityDoesNot) {
  begin(2);
  enter();
  marked(1);
  pass(bounds_.scatter);
  EXPECT_FALSE(op_->hasResults());
  pass(bounds_.broadcast / 2);
  EXPECT_TRUE(op_->hasResults());
}

// Even if most ranks no longer need anything of this shard.
TEST_F(EarlyEnd, WaitsForAMajorityOfTheDataOfRanksThatAreDone) {
  begin(4);
  enter();
  for (const int rank : {1, 2, 3}) {
    op_->done(now_, rank, 0);
  }
  pass(100 * kPatience);
  EXPECT_FALSE(op_->finished());
  for (uint32_t slot = 0; slot < 3; slot++) {
    contribution(1, slot, slot > 0);
    contribution(2, slot, slot > 0);
  }
  pass(kPatience);
  EXPECT_TRUE(op_->finished());
  EXPECT_EQ(op_->leave(now_).endedBy, EndedBy::kEarly);
}

// Repair broadcast; nothing ends before its bound. All others have entered.
class AtTheBound : public OneOp {
 protected:
  void beginAway(int size) {
    OpBounds bounds = farAway();
    bounds.scatter = milliseconds(10);
    OneOp::begin(size, 1, bounds);
    for (int rank = 1; rank < size; rank++) {
      op_->announced(now_, rank, op_->shape());
    }
  }
  void begin(int size) {
    beginAway(size);
    enter();
  }
  // The stage waits past its bound until `news`.
  void endsAfter(const std::function<void()>& news) {
    pass(2 * bounds_.scatter);
    ASSERT_FALSE(op_->hasResults());
    news();
    ASSERT_FALSE(op_->hasResults());
    pass(bounds_.scatter / 5);
    EXPECT_TRUE(op_->hasResults());
  }
};

TEST_F(AtTheBound, AMinorityIsLeftOut) {
  begin(3);
  contribution(1, 0, true);
  pass(bounds_.scatter);
  EXPECT_TRUE(op_->hasResults());
}

// All have entered, but both others' data is delayed. Once a majority is in the
// sum, the last rank gets a tenth more time.
TEST_F(AtTheBound, AMajorityIsWaitedFor) {
  begin(3);
  pass(2 * bounds_.scatter);
  EXPECT_FALSE(op_->hasResults());
  contribution(1, 0, true);
  pass(bounds_.scatter / 10);
  EXPECT_FALSE(op_->hasResults());
  pass(bounds_.scatter / 10);
  EXPECT_TRUE(op_->hasResults());
}

TEST_F(AtTheBound, LostDataOfALateMajorityIsRequestedAgain) {
  begin(2);
  pass(bounds_.scatter);
  host_.all.clear();
  pass(Requests::kPause);
  const auto asked = std::count_if(
      host_.all.begin(), host_.all.end(), [](const auto& request) {
        return request.first == 1 && request.second.stage == Stage::kScatter;
      });
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(op_->hasResults());
  contribution(1, 0, true);
  EXPECT_TRUE(op_->hasResults());
}

// The network is slow only for this rank: the others' results have come.
TEST_F(AtTheBound, AMajorityIsLeftOutByARankThatAloneIsSlow) {
  begin(4);
  result(1, 0);
  endsAfter([this] { result(2, 0); });
}

TEST_F(AtTheBound, ARankThatHasReturnedIsNotWaitedFor) {
  begin(2);
  endsAfter([this] { op_->noMore(now_, 1, Stage::kScatter); });
  begin(2);
  endsAfter([this] { op_->done(now_, 1, 0); });
}

TEST_F(AtTheBound, ARankThatDiesIsNotWaitedFor) {
  beginAway(4);
  contribution(1, 0, true);
  contribution(2, 0, true);
  EXPECT_FALSE(op_->hasResults());
  endsAfter([this] { op_->peerGone(now_, 3, "it left"); });
}

// Of three ranks, the own caller and rank 2 are late.
TEST_F(AtTheBound, TheOwnCallerMakesAMajority) {
  beginAway(3);
  contribution(1, 0, true);
  endsAfter([this] { enter(); });
}

// Waiting would not make room.
TEST_F(AtTheBound, DataWithoutRoomIsNotWaitedFor) {
  beginAway(3);
  const ArenaBuffer all =
      arena_.reserve(arena_.limitBytes() - arena_.usedBytes());
  pass(bounds_.scatter);
  EXPECT_FALSE(op_->hasResults());
  contribution(1, 0, true, Counter::kArenaFull);
  contribution(2, 0, true, Counter::kArenaFull);
  pass(bounds_.scatter / 5);
  EXPECT_TRUE(op_->hasResults());
}

// Contributions are requested again, so silence after the marks does not end
// the stage.
TEST_F(AtTheBound, DataAfterTheMajorityHasATenthWithAnyPatience) {
  OpBounds bounds = farAway();
  bounds.scatter = milliseconds(10);
  bounds.scatterPatience = milliseconds(1) / 10;
  OneOp::begin(4, 2, bounds);
  enter();
  for (int rank = 1; rank < 4; rank++) {
    op_->announced(now_, rank, op_->shape());
  }
  pass(2 * bounds.scatter);
  for (int rank = 1; rank < 4; rank++) {
    contribution(rank, 0, true);
  }
  for (int rank = 1; rank < 3; rank++) {
    contribution(rank, 1, true);
  }
  pass(bounds.scatter / 10);
  EXPECT_FALSE(op_->hasResults());
  pass(bounds.scatter / 10);
  EXPECT_TRUE(op_->hasResults());
}

TEST_F(AtTheBound, AMajorityIsLeftOutIfTheUserHasSetIt) {
  OpBounds bounds = farAway();
  bounds.scatter = milliseconds(10);
  options_.boundScatter = bounds.scatter;
  OneOp::begin(2, 1, bounds);
  enter();
  op_->announced(now_, 1, op_->shape());
  pass(bounds_.scatter);
  EXPECT_TRUE(op_->hasResults());
}

}  // namespace
}  // namespace ubt
