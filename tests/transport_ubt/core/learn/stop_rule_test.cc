// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/stop_rule.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::milliseconds;

TimePoint at(int ms) {
  return TimePoint(milliseconds(ms));
}

// Usual 60 ms, margin 12 ms, x = 1.5.
const StopRule kRule{milliseconds(60), milliseconds(12), 1.5};

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

TEST(StopRule, TheMarginIsTheLeastThatACutSaves) {
  const StopRule rule{milliseconds(20), milliseconds(12), 1.5};
  EXPECT_EQ(rule.networkEnd(at(0), at(10), at(0)), at(32));
}

TEST(StopRule, ARankThatEntersLateHasItsTimeFromThenOn) {
  EXPECT_EQ(kRule.networkEnd(at(100), at(150), at(130)), at(220));
  EXPECT_EQ(kRule.networkEnd(at(100), at(150), at(20)), at(190));
}

}  // namespace
}  // namespace ubt
