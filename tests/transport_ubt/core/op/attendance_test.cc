// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/attendance.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

constexpr TimePoint kNow{std::chrono::seconds(1)};
constexpr TimePoint kLater{std::chrono::seconds(2)};

TEST(Attendance, MoreThanHalfIsMost) {
  Attendance four(0, 4, 3);
  EXPECT_TRUE(four.enter(kNow, 1));
  EXPECT_TRUE(four.enter(kNow, 2));
  EXPECT_FALSE(four.mostHaveEntered());
  EXPECT_TRUE(four.enter(kNow, 0));
  EXPECT_TRUE(four.mostHaveEntered());
}

TEST(Attendance, ARankEntersOnce) {
  Attendance two(0, 2, 1);
  EXPECT_TRUE(two.enter(kNow, 1));
  EXPECT_FALSE(two.enter(kNow, 1));
  EXPECT_EQ(two.entered(), 1);
  EXPECT_FALSE(two.mostHaveEntered());
}

TEST(Attendance, AnAnnouncementIsNewsOnce) {
  Attendance two(0, 2, 1);
  EXPECT_TRUE(two.announce(1));
  EXPECT_FALSE(two.announce(1));
  EXPECT_FALSE(two.hasEntered(1));
}

TEST(Attendance, TheOwnRankIsDoneFromTheStart) {
  Attendance three(1, 3, 2);
  EXPECT_EQ(three.firstNotDone(), 0);
  three.finish(0);
  EXPECT_EQ(three.firstNotDone(), 2);
  three.markGone(2);
  EXPECT_EQ(three.firstNotDone(), -1);
}

// The own rank and gone ranks do not report that they have all results.
TEST(Attendance, HalfOfTheOthersAreThrough) {
  Attendance eight(0, 8, 7);
  for (const int rank : {1, 2, 2, 3}) {
    eight.passThrough(kNow, rank, Stage::kScatter);
  }
  EXPECT_EQ(eight.halfThroughAt(Stage::kScatter), kNever);
  eight.passThrough(kLater, 4, Stage::kScatter);
  EXPECT_EQ(eight.halfThroughAt(Stage::kScatter), kLater);
  eight.passThrough(kLater + std::chrono::seconds(1), 5, Stage::kScatter);
  EXPECT_EQ(eight.halfThroughAt(Stage::kScatter), kLater);
  EXPECT_EQ(eight.halfThroughAt(Stage::kBroadcast), kNever);
  Attendance two(0, 2, 1);
  two.passThrough(kNow, 1, Stage::kBroadcast);
  EXPECT_EQ(two.halfThroughAt(Stage::kBroadcast), kNow);
}

TEST(Attendance, TheLastEntryIsRemembered) {
  Attendance three(0, 3, 2);
  EXPECT_EQ(three.lastEntry(), kNever);
  three.enter(kNow, 1);
  three.enter(kLater, 0);
  three.enter(kLater + std::chrono::seconds(1), 1);
  EXPECT_EQ(three.lastEntry(), kLater);
  EXPECT_EQ(three.enteredAt(1), kNow);
  EXPECT_EQ(three.enteredAt(2), kNever);
}

TEST(Attendance, ARankReportsOnceThatItHasClosed) {
  Attendance two(0, 2, 1);
  EXPECT_TRUE(two.reportClosed(1));
  EXPECT_FALSE(two.reportClosed(1));
}

}  // namespace
}  // namespace ubt
