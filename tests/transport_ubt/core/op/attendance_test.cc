// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/attendance.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

constexpr TimePoint kNow{std::chrono::seconds(1)};
constexpr TimePoint kLater{std::chrono::seconds(2)};

TEST(Attendance, MoreThanHalfIsMost) {
  Attendance four(0, 4);
  EXPECT_TRUE(four.enter(1));
  EXPECT_TRUE(four.enter(2));
  EXPECT_FALSE(four.mostHaveEntered());
  EXPECT_TRUE(four.enter(0));
  EXPECT_TRUE(four.mostHaveEntered());
}

TEST(Attendance, ARankEntersOnce) {
  Attendance two(0, 2);
  EXPECT_TRUE(two.enter(1));
  EXPECT_FALSE(two.enter(1));
  EXPECT_EQ(two.entered(), 1);
  EXPECT_FALSE(two.mostHaveEntered());
}

TEST(Attendance, AnAnnouncementIsNewsOnce) {
  Attendance two(0, 2);
  EXPECT_TRUE(two.announce(1));
  EXPECT_FALSE(two.announce(1));
  EXPECT_FALSE(two.hasEntered(1));
}

TEST(Attendance, TheOwnRankIsDoneFromTheStart) {
  Attendance three(1, 3);
  EXPECT_EQ(three.firstNotDone(), 0);
  three.finish(kNow, 0);
  EXPECT_EQ(three.firstNotDone(), 2);
  three.markGone(2);
  EXPECT_EQ(three.firstNotDone(), -1);
}

// The own rank and gone ranks do not report that they have all results.
TEST(Attendance, MostHaveFinishedOnceMoreThanHalfSaidSo) {
  Attendance five(0, 5);
  five.finish(kNow, 1);
  five.finish(kNow, 1);
  five.markGone(2);
  five.finish(kNow, 3);
  EXPECT_EQ(five.mostFinishedAt(), kNever);
  five.finish(kLater, 4);
  EXPECT_EQ(five.mostFinishedAt(), kLater);
}

}  // namespace
}  // namespace ubt
