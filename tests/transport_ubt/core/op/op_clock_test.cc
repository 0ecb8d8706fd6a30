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

}  // namespace
}  // namespace ubt
