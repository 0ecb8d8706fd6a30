// SPDX-License-Identifier: Apache-2.0
//
// Times are milliseconds after the stage began.
#include "transport_ubt/core/op/stage_progress.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::milliseconds;

constexpr TimePoint kStart{std::chrono::seconds(1)};

class StageProgressTest : public ::testing::Test {
 protected:
  // Senders 0 to 3 owe ten slots each. Number 4 is the own rank and owes none.
  void SetUp() override {
    for (int sender = 0; sender < 4; sender++) {
      progress_.expect(sender, 10);
    }
  }

  static TimePoint at(int ms) { return kStart + milliseconds(ms); }

  // `slots` slots of a sender come, one a millisecond, the last one at
  // `lastAt`.
  void come(int sender, int slots, int lastAt, bool marked = false) {
    for (int left = slots - 1; left >= 0; left--) {
      progress_.arrived(at(lastAt - left), sender, marked && left == 0);
    }
  }

  StageProgress progress_{5};
};

TEST(FirstMarked, IsTheFirstOfTheLastHundredthAndOfTwo) {
  EXPECT_EQ(StageProgress::firstMarked(0), 0u);
  EXPECT_EQ(StageProgress::firstMarked(1), 0u);
  EXPECT_EQ(StageProgress::firstMarked(2), 0u);
  EXPECT_EQ(StageProgress::firstMarked(3), 1u);
  EXPECT_EQ(StageProgress::firstMarked(200), 198u);
  EXPECT_EQ(StageProgress::firstMarked(201), 198u);
  EXPECT_EQ(StageProgress::firstMarked(1000), 990u);
}

TEST_F(StageProgressTest, ASenderEndsWithAMarkWithAllSlotsOrIfItSaysSo) {
  come(0, 9, 20, true);
  come(1, 10, 30);
  EXPECT_TRUE(progress_.hasEnded(0));
  EXPECT_TRUE(progress_.hasEnded(1));
  EXPECT_FALSE(progress_.hasEnded(2));
  EXPECT_TRUE(progress_.end(at(40), 2));
  EXPECT_FALSE(progress_.end(at(41), 2));
  EXPECT_FALSE(progress_.end(at(41), 4));  // it owes nothing
  EXPECT_EQ(progress_.ended(), 3u);
  EXPECT_EQ(progress_.complete(), 1u);
  EXPECT_FALSE(progress_.allEnded());
  come(3, 1, 50, true);
  EXPECT_TRUE(progress_.allEnded());
  EXPECT_EQ(progress_.lastArrival(), at(50));
  EXPECT_EQ(progress_.lastSender(), 3);
}

TEST_F(StageProgressTest, ASenderEndsOnceItsOtherSlotsAreLost) {
  come(0, 8, 20);
  progress_.lost(at(21), 0);
  EXPECT_EQ(progress_.owed(0), 1u);
  EXPECT_FALSE(progress_.hasEnded(0));
  progress_.lost(at(22), 0);
  EXPECT_EQ(progress_.owed(0), 0u);
  EXPECT_EQ(progress_.owed(), 30u);
  EXPECT_TRUE(progress_.hasEnded(0));
  EXPECT_EQ(progress_.complete(), 0u);
  EXPECT_EQ(progress_.lastArrival(0), at(22));
}

TEST_F(StageProgressTest, ALostSlotMayComeAfterAll) {
  come(0, 8, 20);
  progress_.lost(at(21), 0);
  progress_.found(0);
  EXPECT_EQ(progress_.owed(0), 2u);
  come(0, 2, 30);
  EXPECT_EQ(progress_.complete(), 1u);
  EXPECT_EQ(progress_.owed(), 30u);
}

TEST_F(StageProgressTest, AMarkIsSeenOnce) {
  come(0, 8, 20, true);
  come(0, 1, 21, true);
  EXPECT_EQ(progress_.ended(), 1u);
}

TEST_F(StageProgressTest, HalfOfTheSendersEndOnce) {
  come(0, 10, 20);
  EXPECT_EQ(progress_.halfEndedAt(), kNever);
  come(1, 5, 25, true);
  come(2, 10, 30);
  EXPECT_EQ(progress_.halfEndedAt(), at(25));
}

TEST_F(StageProgressTest, MoreThanIsOwedChangesNothing) {
  come(0, 12, 20);
  come(1, 10, 25);
  EXPECT_EQ(progress_.owed(0), 0u);
  EXPECT_EQ(progress_.owed(), 20u);
  EXPECT_EQ(progress_.complete(), 2u);
}

// The sender's pace counts, not the time of its begin.
TEST_F(StageProgressTest, ASenderEndsAtItsPace) {
  come(3, 1, 59);
  EXPECT_EQ(progress_.projectedEnd(3), kNever);  // one slot has no pace
  come(3, 1, 60);
  EXPECT_EQ(progress_.projectedEnd(3), at(68));
  EXPECT_EQ(progress_.projectedEnd(2), kNever);
}

TEST_F(StageProgressTest, ProjectsTheTimeOfTheWholeStage) {
  EXPECT_EQ(progress_.projected(kStart), Duration{0});
  come(0, 10, 20);
  come(1, 10, 40);
  EXPECT_EQ(progress_.projected(kStart), Duration(milliseconds(80)));
}

}  // namespace
}  // namespace ubt
