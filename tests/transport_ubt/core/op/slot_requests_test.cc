// SPDX-License-Identifier: Apache-2.0
//
// An op's requests for missing data: contents, times, and end.

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "tests/transport_ubt/core/one_op.h"

namespace ubt {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A rank whose caller has entered the op.
class OpRequests : public OneOp {
 protected:
  static constexpr Duration kPause = Requests::kPause;

  void begin(int size, uint32_t slots, const OpBounds& bounds) {
    OneOp::begin(size, slots, bounds);
    enter();
  }
  // The time from now to the next request for results.
  Duration untilRequest() {
    const TimePoint start = now_;
    host_.all.clear();
    while (host_.all.empty() && op_->nextDeadline() < start + seconds(9)) {
      now_ = std::max(now_, op_->nextDeadline());
      op_->deadlinePassed(now_);
    }
    return now_ - start;
  }
  // Whether rank 1 was asked if more of this stage will come.
  bool asked(Stage stage) const {
    return std::any_of(
        host_.all.begin(), host_.all.end(), [stage](const auto& request) {
          return request.second.stage == stage && request.second.slots == 0;
        });
  }
};

// Each result that comes shows that its owner is alive. The next request for
// its missing results comes one first pause later, not sooner, and not after
// the pause that doubled during silence.
TEST_F(OpRequests, BeginAnewWithEachResult) {
  begin(2, 40, farAway());
  untilRequest();
  EXPECT_EQ(untilRequest(), 2 * kPause);
  EXPECT_EQ(untilRequest(), 4 * kPause);
  pass(milliseconds(1));
  result(1, 0);
  EXPECT_EQ(untilRequest(), kPause);
  pass(milliseconds(15));
  result(1, 1);
  EXPECT_EQ(untilRequest(), kPause);
}

// While more may come, a rank only asks whether it will. Slots that are on
// their way would come twice.
TEST_F(OpRequests, NameSlotsOnceNoMoreWillCome) {
  begin(2, 40, farAway());
  for (uint32_t slot = 0; slot < 40; slot += 2) {
    result(1, slot);
  }
  untilRequest();
  ASSERT_EQ(host_.all.size(), 1u);
  EXPECT_EQ(host_.all[0].second.slots, 0u);
  host_.all.clear();
  op_->noMore(now_, 1, Stage::kBroadcast);
  ASSERT_EQ(host_.all.size(), 16u);  // at most
  for (uint32_t i = 0; i < 16; i++) {
    EXPECT_EQ(host_.all[i].second.slot, 2 * i + 1);
    EXPECT_EQ(host_.all[i].second.slots, 1u);
  }
  for (uint32_t slot = 1; slot < 32; slot += 2) {
    result(1, slot);
  }
  EXPECT_EQ(untilRequest(), kPause);
  EXPECT_EQ(host_.all.size(), 4u);
}

// Usual times of a new size class are guesses. They may be as long as the
// call's timeout, and a question that comes then is of no use.
TEST_F(OpRequests, ComeSoonEvenIfTheUsualTimeIsLong) {
  begin(2, 4, farAway());
  contribution(1, 0, false);
  pass(milliseconds(50) + kPause);
  EXPECT_TRUE(asked(Stage::kScatter));
}

// Its announcement reached an op that made way for others since.
TEST_F(OpRequests, OfResultsShowThatTheirRankHasEntered) {
  begin(2, 4, farAway());
  pass(milliseconds(50) + kPause);
  EXPECT_FALSE(asked(Stage::kScatter));
  op_->repairAsked(now_, 1, Stage::kBroadcast, 0, 0);
  pass(milliseconds(50) + kPause);
  EXPECT_TRUE(asked(Stage::kScatter));
}

// This op is exact here. The other one was bounded, and has returned there.
TEST_F(OpRequests, OfContributionsEndIfACallIsOver) {
  options_.repair = RepairPolicy::kBoth;
  begin(2, 4, farAway());
  contribution(1, 0, false);
  host_.all.clear();
  op_->noMore(now_, 1, Stage::kScatter);
  op_->noMore(now_, 1, Stage::kScatter);  // a second answer
  ASSERT_EQ(host_.all.size(), 1u);
  EXPECT_EQ(host_.all[0].second.slot, 1u);
  EXPECT_EQ(host_.all[0].second.slots, 3u);
  EXPECT_FALSE(op_->hasResults());
  op_->over(now_, 1);
  EXPECT_TRUE(op_->hasResults());
}

}  // namespace
}  // namespace ubt
