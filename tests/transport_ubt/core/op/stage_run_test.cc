// SPDX-License-Identifier: Apache-2.0
//
// Ranks 1 and 2 owe rank 0 ten slots of 100 bytes each.
#include "transport_ubt/core/op/stage_run.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

constexpr TimePoint kNow{std::chrono::seconds(1)};
constexpr uint32_t kSlots = 10;

class StageRunTest : public ::testing::Test {
 protected:
  StageRunTest() {
    for (const int rank : {1, 2}) {
      run_.expect(rank, kSlots, 1000);
    }
  }
  void come(int rank, int slots, bool repair = false) {
    for (int slot = 0; slot < slots; slot++) {
      run_.arrived(kNow, rank, {100, repair, false});
    }
  }
  void expectSum(int rank) const {
    const StageBytes& bytes = run_.bytes(rank);
    EXPECT_EQ(bytes.sum(), bytes.expected);
  }

  StageRun run_{3};
};

TEST_F(StageRunTest, CountsEachByteOnce) {
  come(1, 6);
  come(1, 1, true);
  EXPECT_TRUE(run_.turnAway(1, 7, kSlots));
  run_.settle(1, 100, StageRun::Cause::kLost);
  EXPECT_EQ(run_.bytes(1).received, 700);
  EXPECT_EQ(run_.bytes(1).repaired, 100);
  EXPECT_EQ(run_.bytes(1).refused, 100);
  EXPECT_EQ(run_.bytes(1).lost, 200);
  expectSum(1);
}

TEST_F(StageRunTest, AnAbsentRankLostNothing) {
  run_.settle(2, 0, StageRun::Cause::kAbsent);
  EXPECT_EQ(run_.bytes(2).absent, 1000);
  EXPECT_EQ(run_.bytes(2).lost, 0);
  EXPECT_EQ(run_.lostShare(), 0);
  expectSum(2);
}

TEST_F(StageRunTest, LossCountsOnlyRanksThatSentSomething) {
  come(1, 5);
  run_.settle(1, 0, StageRun::Cause::kLost);
  run_.settle(2, 0, StageRun::Cause::kLost);
  EXPECT_EQ(run_.lostShare(), 0.5);
}

TEST_F(StageRunTest, LateDataWasNotLost) {
  come(1, 8);
  run_.settle(1, 0, StageRun::Cause::kLost);
  EXPECT_EQ(run_.lostShare(), 0.2);
  for (const uint32_t slot : {8, 9}) {
    run_.countLate(1, slot, 100);
  }
  EXPECT_EQ(run_.lostShare(), 0);
  EXPECT_EQ(run_.bytes(1).late, 200);
  expectSum(1);
}

// It was also turned away, but counts as late, not as refused.
TEST_F(StageRunTest, LateDataBeforeTheFinalCountIsNotRefused) {
  come(1, 9);
  EXPECT_TRUE(run_.turnAway(1, 9, kSlots));
  run_.countLate(1, 9, 100);
  run_.settle(1, 100, StageRun::Cause::kLost);
  EXPECT_EQ(run_.bytes(1).late, 100);
  EXPECT_EQ(run_.bytes(1).refused, 0);
  expectSum(1);
}

// The sender's other slots were cut on their way.
TEST_F(StageRunTest, SlotsThatTheNetworkLostAreNotCut) {
  come(1, 5);
  EXPECT_TRUE(run_.lose(kNow, 1, 6, kSlots, 100));
  EXPECT_FALSE(run_.lose(kNow, 1, 6, kSlots, 100));
  EXPECT_TRUE(run_.lose(kNow, 1, 7, kSlots, 100));
  EXPECT_EQ(run_.progress().owed(1), 3u);
  run_.settle(1, 0, StageRun::Cause::kCut);
  EXPECT_EQ(run_.bytes(1).lost, 200);
  EXPECT_EQ(run_.bytes(1).cut, 300);
  expectSum(1);
}

// Before the final count and after it.
TEST_F(StageRunTest, ALostSlotThatComesLateIsNotLost) {
  come(1, 5);
  for (const uint32_t slot : {5, 6, 7}) {
    run_.lose(kNow, 1, slot, kSlots, 100);
  }
  EXPECT_TRUE(run_.turnAway(1, 5, kSlots));
  run_.countLate(1, 5, 100);
  run_.settle(1, 100, StageRun::Cause::kCut);
  EXPECT_EQ(run_.bytes(1).lost, 200);
  EXPECT_EQ(run_.bytes(1).cut, 200);
  run_.countLate(1, 6, 100);
  EXPECT_EQ(run_.bytes(1).lost, 100);
  EXPECT_EQ(run_.bytes(1).cut, 200);
  EXPECT_EQ(run_.bytes(1).late, 200);
  expectSum(1);
}

TEST_F(StageRunTest, ASlotThatWasTurnedAwayIsNotLost) {
  EXPECT_TRUE(run_.turnAway(1, 5, kSlots));
  EXPECT_FALSE(run_.lose(kNow, 1, 5, kSlots, 100));
}

// Whatever a peer says.
TEST_F(StageRunTest, NoMoreIsLostThanIsOwed) {
  come(1, 9);
  EXPECT_TRUE(run_.lose(kNow, 1, 0, kSlots, 100));
  EXPECT_FALSE(run_.lose(kNow, 1, 1, kSlots, 100));
  EXPECT_FALSE(run_.find(1, 1, 100));
}

TEST_F(StageRunTest, ALostSlotThatComesIsNotLost) {
  come(1, 9);
  EXPECT_FALSE(run_.find(1, 9, 100));
  run_.lose(kNow, 1, 9, kSlots, 100);
  EXPECT_TRUE(run_.find(1, 9, 100));
  EXPECT_FALSE(run_.find(1, 9, 100));
  come(1, 1);
  run_.settle(1, 0, StageRun::Cause::kLost);
  EXPECT_EQ(run_.bytes(1).lost, 0);
  EXPECT_EQ(run_.bytes(1).received, 1000);
  expectSum(1);
}

TEST_F(StageRunTest, ASlotIsTurnedAwayOnceUntilItIsStored) {
  EXPECT_FALSE(run_.anyTurnedAway(1));
  EXPECT_TRUE(run_.turnAway(1, 3, kSlots));
  EXPECT_FALSE(run_.turnAway(1, 3, kSlots));
  EXPECT_TRUE(run_.anyTurnedAway(1));
  run_.acceptTurnedAway(1, 3);
  EXPECT_FALSE(run_.anyTurnedAway(1));
  run_.acceptTurnedAway(2, 3);
  EXPECT_FALSE(run_.anyTurnedAway(2));
}

TEST_F(StageRunTest, DroppedSlotsWereNotReceived) {
  come(1, 2);
  come(1, 2, true);
  run_.dropped(1, 300);
  EXPECT_EQ(run_.bytes(1).received, 100);
  EXPECT_EQ(run_.bytes(1).repaired, 100);
}

TEST_F(StageRunTest, MoreThanWasLostMayComeLate) {
  come(1, 9);
  run_.settle(1, 50, StageRun::Cause::kLost);
  run_.countLate(1, 9, 100);
  EXPECT_EQ(run_.bytes(1).lost, 0);
  EXPECT_EQ(run_.bytes(1).late, 50);
  expectSum(1);
}

}  // namespace
}  // namespace ubt
