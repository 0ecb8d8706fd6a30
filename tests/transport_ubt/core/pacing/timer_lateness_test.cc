// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/pacing/timer_lateness.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(TimerLateness, KeepsTheWorstAndForgetsItSlowly) {
  TimerLateness lateness;
  const TimePoint start{std::chrono::seconds(100)};
  EXPECT_EQ(lateness.worst(start), TimerLateness::kUnmeasured);
  lateness.sample(start, milliseconds(8));
  lateness.sample(start, milliseconds(1));
  EXPECT_EQ(lateness.worst(start), milliseconds(8));
  const TimePoint later = start + TimerLateness::kHalfLife;
  EXPECT_EQ(lateness.worst(later), milliseconds(4));
  lateness.sample(later, milliseconds(5));
  EXPECT_EQ(lateness.worst(later), milliseconds(5));
  lateness.sample(later, std::chrono::seconds(5));  // stopped, and continued
  EXPECT_EQ(lateness.worst(later), TimerLateness::kMost);
}

TEST(TimerLateness, ForgetsTheAssumedValueOnceItMeasures) {
  TimerLateness lateness;
  const TimePoint start{std::chrono::seconds(100)};
  lateness.sample(start, microseconds(20));
  EXPECT_EQ(lateness.worst(start), TimerLateness::kUnmeasured);
  const TimePoint later = start + TimerLateness::kHalfLife;
  EXPECT_EQ(lateness.worst(later), TimerLateness::kUnmeasured / 2);
  const TimePoint muchLater = start + 10 * TimerLateness::kHalfLife;
  lateness.sample(muchLater, microseconds(20));
  EXPECT_EQ(lateness.worst(muchLater), microseconds(20));
}

}  // namespace
}  // namespace ubt
