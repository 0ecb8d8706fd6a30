// SPDX-License-Identifier: Apache-2.0
//
// Times are milliseconds after the stage began. Its bound is at 100, and the
// patience is 5.
#include "transport_ubt/core/op/stage_progress.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::milliseconds;

constexpr TimePoint kStart{std::chrono::seconds(1)};
constexpr Duration kPatience = milliseconds(5);

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
    comeEvery(1, sender, slots, lastAt, marked);
  }
  void comeEvery(
      int ms, int sender, int slots, int lastAt, bool marked = false) {
    for (int left = slots - 1; left >= 0; left--) {
      progress_.arrived(at(lastAt - ms * left), sender, marked && left == 0);
    }
  }

  // All senders except 3; the last of them at 30.
  void threeComplete() {
    come(0, 10, 20);
    come(1, 10, 25);
    come(2, 10, 30);
  }

  TimePoint end(Duration patience = kPatience) const {
    return progress_.earlyEnd(at(100), patience);
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

TEST_F(StageProgressTest, NothingEndsBeforeAnythingCame) {
  EXPECT_EQ(end(), kNever);
}

TEST_F(StageProgressTest, SilenceAfterEveryMarkIsTheEnd) {
  come(0, 10, 20);
  come(1, 9, 30, true);
  come(2, 8, 40, true);
  EXPECT_EQ(end(), kNever);  // sender 3 has not even begun
  come(3, 5, 50, true);
  EXPECT_EQ(end(), at(55));
  EXPECT_EQ(end(Duration{0}), kNever);  // zero disables patience
  come(2, 1, 53);
  EXPECT_EQ(end(), at(58));  // it was not silent
}

TEST_F(StageProgressTest, WithoutMarksThePaceDecides) {
  progress_ = StageProgress(5, false);
  SetUp();
  come(0, 9, 20, true);
  come(1, 9, 30, true);
  come(2, 9, 30, true);
  come(3, 9, 50, true);
  EXPECT_EQ(end(), kNever);
  come(0, 1, 51);
  come(1, 1, 51);
  come(2, 1, 51);
  EXPECT_NE(end(), kNever);
}

TEST_F(StageProgressTest, AMarkIsSeenOnce) {
  come(0, 8, 20, true);
  come(0, 1, 21, true);
  come(1, 9, 30, true);
  come(2, 9, 40, true);
  EXPECT_EQ(end(), kNever);
}

TEST_F(StageProgressTest, ACompleteStageNeedsNoEnd) {
  for (int sender = 0; sender < 4; sender++) {
    come(sender, 10, 20);
  }
  EXPECT_EQ(end(), kNever);
}

// Three of four are complete at 30; the last one's mark got lost.
TEST_F(StageProgressTest, ASenderThatShouldHaveFinishedIsNotWaitedFor) {
  come(0, 10, 20);
  come(1, 10, 25);
  come(3, 8, 24);  // at its pace all ten by 26
  EXPECT_EQ(end(), kNever);
  come(2, 10, 30);
  EXPECT_EQ(end(), at(35));
}

// The sender's pace counts, not the time of its begin.
TEST_F(StageProgressTest, ASenderThatBeganLateIsWaitedFor) {
  threeComplete();
  come(3, 2, 60);
  EXPECT_EQ(end(), at(73));  // the tenth by 68
  come(3, 2, 63);            // a millisecond without
  EXPECT_EQ(end(), at(76));
}

TEST_F(StageProgressTest, OneSlotHasNoPace) {
  threeComplete();
  come(3, 1, 60);
  EXPECT_EQ(end(), at(105));
}

TEST_F(StageProgressTest, ASenderThatWillFinishByTheBoundIsWaitedFor) {
  threeComplete();
  comeEvery(8, 3, 5, 40);            // from 8 on: the tenth by 80
  EXPECT_EQ(end(), at(80 + 2 * 8));  // pauses of 8 are usual
}

TEST_F(StageProgressTest, ASenderThatCannotFinishHasUntilTheBound) {
  threeComplete();
  comeEvery(12, 3, 3, 40);  // from 16 on: the tenth by 124
  EXPECT_EQ(end(), at(100 + 2 * 12));
}

TEST_F(StageProgressTest, HalfOfTheSendersAreNotMost) {
  come(0, 10, 20);
  come(1, 10, 25);
  come(2, 3, 40);
  come(3, 3, 40);
  EXPECT_EQ(end(), kNever);
}

// A rank that has not entered is late, not slow.
TEST_F(StageProgressTest, ASenderThatHasNotBegunIsWaitedForToTheBound) {
  threeComplete();
  EXPECT_EQ(end(), kNever);
}

TEST_F(StageProgressTest, MoreThanIsOwedChangesNothing) {
  come(0, 12, 20);
  come(1, 10, 25);
  come(2, 10, 30);
  come(3, 8, 24);
  EXPECT_EQ(end(), at(35));
  // 38 of 40 slots had come by 24, when the last of them came.
  EXPECT_EQ(progress_.projected(kStart), Duration(milliseconds(24)) * 40 / 38);
}

TEST_F(StageProgressTest, ProjectsTheTimeOfTheWholeStage) {
  EXPECT_EQ(progress_.projected(kStart), Duration{0});
  come(0, 10, 20);
  come(1, 10, 40);
  EXPECT_EQ(progress_.projected(kStart), Duration(milliseconds(80)));
}

}  // namespace
}  // namespace ubt
