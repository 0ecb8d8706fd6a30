// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/stop_rule.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::milliseconds;

TimePoint at(int ms) {
  return TimePoint(milliseconds(ms));
}

// Usual 60 ms, x 1.5; the margin is 12 ms.
const StopRule kRule{milliseconds(60), 1.5, milliseconds(12)};

TEST(StopRule, NothingIsCutBeforeMostHaveEnteredAndHalfAreThrough) {
  EXPECT_EQ(kRule.networkEnd(kNever, kNever, at(0)), kNever);
  EXPECT_EQ(kRule.networkEnd(at(0), kNever, at(0)), kNever);
  EXPECT_EQ(kRule.absentEnd(kNever, kNever), kNever);
  EXPECT_EQ(kRule.absentEnd(at(0), kNever), kNever);
}

TEST(StopRule, DelayedDataHasXTimesTheBase) {
  EXPECT_EQ(kRule.networkEnd(at(100), at(150), at(100)), at(190));
  EXPECT_EQ(kRule.absentEnd(at(100), at(150)), at(172));
}

TEST(StopRule, ASlowNetworkDelaysTheEnd) {
  EXPECT_EQ(kRule.networkEnd(at(100), at(300), at(100)), at(400));
  EXPECT_EQ(kRule.absentEnd(at(100), at(300)), at(312));
}

TEST(StopRule, DelayedDataHasTheMargin) {
  const StopRule rule{milliseconds(20), 1.5, milliseconds(12)};
  EXPECT_EQ(rule.networkEnd(at(0), at(10), at(0)), at(32));
}

// Any host delays ranks by some milliseconds.
TEST(StopRule, JitterIsNoAbsence) {
  const StopRule rule{milliseconds(20), 1.5, milliseconds(1)};
  EXPECT_EQ(rule.absentEnd(at(0), at(10)), at(20) + StopRule::kJitter);
}

TEST(StopRule, ARankThatEntersLateHasItsTimeFromThenOn) {
  EXPECT_EQ(kRule.networkEnd(at(100), at(150), at(130)), at(220));
  EXPECT_EQ(kRule.networkEnd(at(100), at(150), at(20)), at(190));
}

TEST(StopRule, ResultsComeFirstOnceHalfOfTheReserveIsUsedUp) {
  EXPECT_EQ(kRule.resultsFirstAt(at(100), at(100), at(100)), at(175));
  EXPECT_EQ(kRule.resultsFirstAt(at(100), at(300), at(100)), at(350));
  EXPECT_EQ(kRule.resultsFirstAt(at(100), at(100), at(130)), at(205));
}

}  // namespace
}  // namespace ubt
