// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/op_clock.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::milliseconds;

constexpr TimePoint at(int ms) {
  return TimePoint{milliseconds(ms)};
}

TEST(OpClock, WaitsForTheMajorityFromEntryOn) {
  OpClock clock(at(100));
  clock.enter(at(200));
  EXPECT_FALSE(clock.runs());
  EXPECT_EQ(clock.waited(at(230)), milliseconds(30));
  clock.start(at(250));
  EXPECT_TRUE(clock.runs());
  EXPECT_EQ(clock.waited(at(300)), milliseconds(50));
}

TEST(OpClock, ALateRankHasNotWaited) {
  OpClock clock(at(100));
  clock.start(at(150));
  clock.enter(at(200));
  EXPECT_EQ(clock.waited(at(300)), Duration{0});
}

// Noticed 30 ms late, a deadline moves to 30 ms from now.
TEST(OpClock, ExcusesTheTimeThatWasMissed) {
  OpClock clock(at(0));
  EXPECT_TRUE(clock.excuse(at(130), at(100), at(0), milliseconds(50)));
  EXPECT_EQ(at(100) + clock.excused(), at(160));
}

// The deadline was known 20 ms after it had passed, and noticed 30 ms later.
TEST(OpClock, ExcusesTheTimeSinceADeadlineWasKnown) {
  OpClock clock(at(0));
  EXPECT_TRUE(clock.excuse(at(150), at(100), at(120), milliseconds(50)));
  EXPECT_EQ(at(100) + clock.excused(), at(180));
}

TEST(OpClock, ExcusesAtMostTheLimit) {
  OpClock clock(at(0));
  EXPECT_TRUE(clock.excuse(at(300), at(100), at(0), milliseconds(50)));
  EXPECT_EQ(at(100) + clock.excused(), at(350));
}

TEST(OpClock, ExcusesOnceAndOnlyAStop) {
  OpClock clock(at(0));
  EXPECT_FALSE(clock.excuse(at(109), at(100), at(0), milliseconds(50)));
  EXPECT_TRUE(clock.excuse(at(110), at(100), at(0), milliseconds(50)));
  EXPECT_FALSE(clock.excuse(at(500), at(120), at(0), milliseconds(50)));
  EXPECT_EQ(clock.excused(), milliseconds(20));
}

}  // namespace
}  // namespace ubt
