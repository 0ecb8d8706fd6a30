// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/step_times.h"

#include <gtest/gtest.h>

namespace gloo {
namespace compare {
namespace {

using Times = std::vector<double>;

TEST(StepTimes, OneRanksAreItsOwn) {
  EXPECT_EQ(stepTimes({10, 21, 33}, 3, 3), (Times{10, 11, 12}));
  EXPECT_EQ(stepTimes({}, 0, 2), Times{});
}

TEST(StepTimes, EachTurnBeginsAtZero) {
  EXPECT_EQ(stepTimes({10, 21, 9, 19}, 4, 2), (Times{10, 11, 9, 10}));
}

// Rank 2 finishes the second iteration 10 late, and the others wait for it in
// the third. By their own times the slowest take 10, 20, and 20.
TEST(StepTimes, ALateRankCountsOnce) {
  EXPECT_EQ(stepTimes({10, 20, 40, 10, 20, 40, 10, 30, 40}, 3, 3),
            (Times{10, 10, 20}));
}

// The others do not wait for rank 0.
TEST(StepTimes, HalfOfTheRanksEndAnIteration) {
  EXPECT_EQ(stepTimes({90, 91, 10, 20, 11, 21, 12, 22}, 2, 2), (Times{11, 10}));
  EXPECT_EQ(stepTimes({90, 91, 10, 20}, 2, 2), (Times{10, 10}));
}

}  // namespace
}  // namespace compare
}  // namespace gloo
