// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/usual_times.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::milliseconds;

TEST(UsualTimes, KnowsNothingAtFirst) {
  EXPECT_FALSE(UsualTimes(3).any());
  EXPECT_EQ(UsualTimes(3).usual(), Duration{0});
}

TEST(UsualTimes, IsTheLowerQuartileOfTheSlowestSender) {
  UsualTimes times(2);
  for (int i = 1; i <= 8; i++) {
    times.complete(0, milliseconds(i));
    times.complete(1, milliseconds(10 * i));
  }
  EXPECT_EQ(times.usual(), milliseconds(30));  // of 10, 20 ... 80
}

TEST(UsualTimes, IncludesASenderThatIsAlwaysLateButNotOneThatIsLateAtTimes) {
  UsualTimes always(2);
  UsualTimes atTimes(2);
  for (int i = 0; i < 64; i++) {
    always.complete(0, milliseconds(10));
    always.complete(1, milliseconds(60));
    atTimes.complete(0, milliseconds(10));
    atTimes.complete(1, milliseconds(i % 2 == 0 ? 60 : 10));
  }
  EXPECT_EQ(always.usual(), milliseconds(60));
  EXPECT_EQ(atTimes.usual(), milliseconds(10));
}

TEST(UsualTimes, ForgetsOldTimes) {
  UsualTimes times(1);
  for (int i = 0; i < 64; i++) {
    times.complete(0, milliseconds(10));
  }
  // From the 49th on, a quarter of the recent ones or fewer are old.
  for (int i = 0; i < 48; i++) {
    times.complete(0, milliseconds(20));
    EXPECT_EQ(times.usual(), milliseconds(i < 47 ? 10 : 20)) << i;
  }
}

TEST(UsualTimes, LimitsProjections) {
  UsualTimes times(2);
  // Nothing is known that could limit it.
  times.cut(0, milliseconds(900), times.mostProjected());
  EXPECT_EQ(times.usual(), milliseconds(900));
  for (int i = 0; i < 64; i++) {
    times.complete(0, milliseconds(10));
  }
  times.cut(1, milliseconds(900), times.mostProjected());
  EXPECT_EQ(times.usual(), milliseconds(40));
  times.cut(1, milliseconds(25), times.mostProjected());
  EXPECT_EQ(times.usual(), milliseconds(25));
}

TEST(UsualTimes, TakesDataThatCameBeforeTheClockAsTheShortestTime) {
  UsualTimes times(1);
  times.complete(0, -milliseconds(3));
  EXPECT_EQ(times.usual(), std::chrono::microseconds(1));
}

}  // namespace
}  // namespace ubt
