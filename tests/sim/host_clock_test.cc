// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/host_clock.h"

#include <gtest/gtest.h>

namespace ubt::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{seconds(1)};

Clocks apart() {
  Clocks clocks;
  clocks.offset = std::chrono::hours(2);
  clocks.rate = 1e-4;
  clocks.slew = 5e-4;
  clocks.slewEvery = milliseconds(333);
  return clocks;
}

TEST(HostClock, ShowsTheWorldsTimeByDefault) {
  const HostClock clock;
  EXPECT_EQ(clock.shows(kStart), kStart);
  EXPECT_EQ(clock.when(kStart), kStart);
}

TEST(HostClock, ClocksOfTwoHostsDifferInZeroAndRate) {
  const HostClock one(apart(), kStart, 1);
  const HostClock two(apart(), kStart, 2);
  EXPECT_NE(one.shows(kStart), two.shows(kStart));
  const TimePoint later = kStart + seconds(100);
  EXPECT_NE(one.shows(later) - one.shows(kStart),
            two.shows(later) - two.shows(kStart));
}

TEST(HostClock, NeverRunsBackwardsAndKnowsWhenItShowsATime) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    const HostClock clock(apart(), kStart, seed);
    TimePoint before = clock.shows(kStart);
    for (int i = 1; i <= 2000; i++) {
      const TimePoint world = kStart + std::chrono::microseconds(997) * i;
      const TimePoint shown = clock.shows(world);
      ASSERT_GT(shown, before);
      before = shown;
      const TimePoint when = clock.when(shown);
      ASSERT_LE(when, world);
      ASSERT_GE(clock.shows(when), shown);
      ASSERT_LT(clock.shows(when - Duration{1}), shown);
    }
  }
  EXPECT_EQ(HostClock(apart(), kStart, 1).when(kNever), kNever);
}

}  // namespace
}  // namespace ubt::sim
