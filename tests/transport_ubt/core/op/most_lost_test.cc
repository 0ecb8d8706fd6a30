// SPDX-License-Identifier: Apache-2.0
//
// What an owner does if nothing more comes, and most contributions to some slot
// are lost.

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "tests/transport_ubt/core/one_op.h"

namespace ubt {
namespace {

using std::chrono::milliseconds;

// Rank 0 owns one slot. Others have entered.
class MostLost : public OneOp {
 protected:
  static constexpr Duration kSoon = Requests::kLossAfter + milliseconds(1);

  // The caller's own absence is within the budget.
  void beginAway(int size) { beginWithAbsent(size, 0); }
  // Rank 0 enters if another rank is absent.
  void beginWithAbsent(int size, int absent) {
    OpBounds bounds = farAway();
    bounds.stop.usual = milliseconds(1);
    bounds.absentMost = .5;
    OneOp::begin(size, 1, bounds);
    for (int rank = 1; rank < size; rank++) {
      if (rank != absent) {
        op_->announced(now_, rank, op_->shape());
      }
    }
    if (absent != 0) {
      enter();
      host_.all.clear();
    }
  }
  void begin(int size) {
    beginAway(size);
    enter();
    host_.all.clear();
  }
  void sendersEnd(int first, int last) {
    for (int rank = first; rank <= last; rank++) {
      op_->noMore(now_, rank, Stage::kScatter);
    }
  }
  // How often contributions are requested in this time.
  int64_t requests(Duration time) {
    host_.all.clear();
    pass(time);
    return std::count_if(
        host_.all.begin(), host_.all.end(), [](const auto& request) {
          return request.second.stage == Stage::kScatter &&
                 request.second.slots > 0;
        });
  }
};

TEST_F(MostLost, AMinorityIsLeftOut) {
  begin(3);
  contribution(1, 0, true);
  sendersEnd(2, 2);
  pass(kSoon);
  EXPECT_TRUE(op_->hasResults());
}

TEST_F(MostLost, AMajorityIsRequestedUntilItComes) {
  begin(4);
  sendersEnd(1, 3);
  pass(kSoon);
  EXPECT_FALSE(op_->hasResults());
  EXPECT_EQ(requests(2 * Requests::kPause), 3);  // one of each rank
  contribution(1, 0, true);
  pass(kSoon);
  EXPECT_FALSE(op_->hasResults());  // two of four
  contribution(2, 0, true);
  pass(kSoon);
  EXPECT_TRUE(op_->hasResults());
}

// Rank 4 computes late.
TEST_F(MostLost, AMajorityIsRequestedAlsoIfARankIsAbsent) {
  beginWithAbsent(5, 4);
  sendersEnd(1, 3);
  pass(StopRule::kJitter + kSoon);
  EXPECT_FALSE(op_->hasResults());
  EXPECT_EQ(requests(2 * Requests::kPause), 3);
  contribution(1, 0, true);
  contribution(2, 0, true);
  pass(kSoon);
  EXPECT_TRUE(op_->hasResults());
}

// The network is slow only for this rank: the others' results have come.
TEST_F(MostLost, AMajorityIsLeftOutByARankThatAloneIsSlow) {
  begin(4);
  result(1, 0);
  sendersEnd(1, 3);
  pass(kSoon);
  EXPECT_FALSE(op_->hasResults());
  result(2, 0);
  pass(kSoon);
  EXPECT_TRUE(op_->hasResults());
}

TEST_F(MostLost, ARankThatHasReturnedIsNotWaitedFor) {
  begin(2);
  sendersEnd(1, 1);
  pass(kSoon);
  EXPECT_FALSE(op_->hasResults());
  op_->done(now_, 1, 0, 0);
  pass(kSoon);
  EXPECT_TRUE(op_->hasResults());
}

TEST_F(MostLost, ARankThatDiesIsNotWaitedFor) {
  begin(4);
  contribution(1, 0, true);
  sendersEnd(2, 3);
  pass(kSoon);
  EXPECT_FALSE(op_->hasResults());
  op_->peerGone(3, "it left");
  pass(kSoon);
  EXPECT_TRUE(op_->hasResults());
}

// Waiting would not make room.
TEST_F(MostLost, DataWithoutRoomIsNotWaitedFor) {
  beginAway(3);
  const ArenaBuffer all =
      arena_.reserve(arena_.limitBytes() - arena_.usedBytes());
  contribution(1, 0, true, Counter::kArenaFull);
  contribution(2, 0, true, Counter::kArenaFull);
  sendersEnd(1, 2);
  pass(StopRule::kJitter + kSoon);
  EXPECT_TRUE(op_->hasResults());
}

TEST_F(MostLost, WithoutRepairAMajorityIsLeftOut) {
  options_.repair = RepairPolicy::kNone;
  begin(3);
  sendersEnd(1, 2);
  pass(kSoon);
  EXPECT_TRUE(op_->hasResults());
}

}  // namespace
}  // namespace ubt
