// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/pacing/notice_delay.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

void sample(NoticeDelay* delay, Duration time, int count) {
  for (int i = 0; i < count; i++) {
    delay->sample(time);
  }
}

TEST(NoticeDelay, IsAssumedUntilMeasured) {
  NoticeDelay delay(microseconds(700));
  sample(&delay, milliseconds(1), 99);
  EXPECT_EQ(delay.get(), microseconds(700));
  sample(&delay, milliseconds(1), 2);
  EXPECT_NEAR(delay.get().count(), 1e6, 10);
}

// Half of the time is in pauses of 10 us, half in pauses of 4 ms: an event has
// an even chance to fall into either.
TEST(NoticeDelay, LongTimesCountByTheirLength) {
  NoticeDelay delay;
  for (int i = 0; i < 100; i++) {
    sample(&delay, microseconds(10), 400);
    sample(&delay, milliseconds(4), 1);
  }
  EXPECT_NEAR(delay.get().count(), 2.005e6, 1e4);
}

TEST(NoticeDelay, ForgetsWhatWasLongAgo) {
  NoticeDelay delay;
  sample(&delay, milliseconds(4), 1000);
  sample(&delay, microseconds(10), 1000000);  // for ten seconds
  EXPECT_LT(delay.get(), microseconds(12));
}

TEST(NoticeDelay, AStopIsNotTheSchedulers) {
  NoticeDelay delay;
  sample(&delay, seconds(100), 5);
  EXPECT_NEAR(delay.get().count(), 5e7, 10);
  sample(&delay, seconds(-1), 5);
  EXPECT_NEAR(delay.get().count(), 5e7, 10);
}

}  // namespace
}  // namespace ubt
