// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/step_spacing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ubt {
namespace {

using std::chrono::milliseconds;

constexpr Duration kUsual = milliseconds(10);

class StepSpacingTest : public ::testing::Test {
 protected:
  // Ops of 10 ms that begin at these milliseconds.
  void run(const std::vector<int>& begins) {
    std::vector<std::pair<TimePoint, bool>> events;
    for (const int ms : begins) {
      events.emplace_back(TimePoint(milliseconds(ms)), true);
      events.emplace_back(TimePoint(milliseconds(ms) + kUsual), false);
    }
    std::sort(events.begin(), events.end());
    for (const auto& [at, begin] : events) {
      if (begin) {
        spacing_.begins(at, kUsual);
      } else {
        spacing_.ends();
      }
    }
  }

  StepSpacing spacing_;
};

TEST_F(StepSpacingTest, IsUnknownWithinTheFirstBurst) {
  run({0, 3, 6, 15, 24});
  EXPECT_EQ(spacing_.usual(), Duration{0});
}

TEST_F(StepSpacingTest, IsTheTimeBetweenFirstOpsOfBursts) {
  run({0, 5, 100, 105, 112, 200});
  EXPECT_EQ(spacing_.usual(), milliseconds(100));
}

TEST_F(StepSpacingTest, OpsOneAfterTheOtherAreAStepEach) {
  run({0, 11, 22, 33});
  EXPECT_EQ(spacing_.usual(), milliseconds(11));
}

TEST_F(StepSpacingTest, IsTheLowerQuartile) {
  std::vector<int> begins = {0};
  for (int i = 0; i < 64; i++) {
    begins.push_back(begins.back() + (i % 8 == 0 ? 900 : 100));
  }
  run(begins);
  EXPECT_EQ(spacing_.usual(), milliseconds(100));
}

}  // namespace
}  // namespace ubt
