// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/stage_bound.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::milliseconds;

constexpr StageBound::Unrest kPrompt;  // deadlines are noticed at once

TEST(StageBound, KnowsNothingBeforeAStageWasComplete) {
  EXPECT_EQ(StageBound().bound(BoundMode::kMedian, kPrompt), Duration{0});
  EXPECT_EQ(StageBound().bound(BoundMode::kPaper, kPrompt), Duration{0});
}

TEST(StageBound, IsAQuarterOverTheMedianWhereStagesAreAlike) {
  StageBound bound;
  for (int i = 0; i < 20; i++) {
    bound.complete(milliseconds(91 + i / 2), true);
  }
  // Median 96, upper quartile 98: 96 + 96 / 4.
  EXPECT_EQ(bound.bound(BoundMode::kMedian, kPrompt), milliseconds(120));
  // The paper's rule: the 95th percentile of warm-up.
  EXPECT_EQ(bound.bound(BoundMode::kPaper, kPrompt), milliseconds(100));
}

TEST(StageBound, IsWiderWhereStagesScatterByThemselves) {
  StageBound bound;
  for (int i = 0; i < 64; i++) {
    bound.complete(milliseconds(i % 2 == 0 ? 40 : 60), true);
  }
  // Median and upper quartile 60.
  EXPECT_EQ(bound.bound(BoundMode::kMedian, kPrompt), milliseconds(75));
  for (int i = 0; i < 64; i++) {
    bound.complete(milliseconds(20 + 20 * (i % 3)), false);
  }
  // Quartiles 20 and 60, median 40: 40 + 6 * 20, or 3 * 20.
  EXPECT_EQ(bound.bound(BoundMode::kMedian, kPrompt), milliseconds(160));
  EXPECT_EQ(bound.bound(BoundMode::kMedian, {Duration{0}, true}),
            milliseconds(100));
}

TEST(StageBound, IsNoWiderWhereBurstsMakeSomeStagesLong) {
  StageBound bound;
  for (int i = 0; i < 64; i++) {
    bound.complete(milliseconds(i % 3 == 0 ? 200 : 40), true);
  }
  EXPECT_EQ(bound.bound(BoundMode::kMedian, kPrompt), milliseconds(50));
}

TEST(StageBound, AllowsForHostsThatAreLate) {
  StageBound bound;
  for (int i = 0; i < 20; i++) {
    bound.complete(milliseconds(40), true);
  }
  EXPECT_EQ(bound.bound(BoundMode::kMedian, {milliseconds(5)}),
            milliseconds(50));
  EXPECT_EQ(bound.bound(BoundMode::kMedian, {milliseconds(6)}),
            milliseconds(52));
  EXPECT_EQ(bound.bound(BoundMode::kPaper, {milliseconds(6)}),
            milliseconds(52));
}

TEST(StageBound, FollowsANetworkThatGetsSlowerThanDuringWarmup) {
  StageBound bound;
  for (int i = 0; i < 20; i++) {
    bound.complete(milliseconds(40), true);
  }
  for (int i = 0; i < 64; i++) {
    bound.complete(milliseconds(48), false);
  }
  EXPECT_EQ(bound.bound(BoundMode::kMedian, kPrompt), milliseconds(60));
}

// Of a stage that would exceed the bound, only this excess is known.
TEST(StageBound, GrowsWhereMostStagesAreCutShort) {
  StageBound bound;
  for (int i = 0; i < 20; i++) {
    bound.complete(milliseconds(40), true);
  }
  const Duration before = bound.bound(BoundMode::kMedian, kPrompt);
  for (int i = 0; i < 19; i++) {
    bound.incomplete(before);
  }
  EXPECT_EQ(bound.bound(BoundMode::kMedian, kPrompt), before);  // a burst
  bound.incomplete(before);
  EXPECT_EQ(bound.bound(BoundMode::kMedian, kPrompt), before * 5 / 4);
}

TEST(StageBound, ABurstDuringWarmupSpoilsThePapersRuleOnly) {
  StageBound bound;
  for (int i = 0; i < 20; i++) {
    bound.complete(milliseconds(i < 4 ? 500 : 40), true);
  }
  EXPECT_EQ(bound.bound(BoundMode::kMedian, kPrompt), milliseconds(50));
  EXPECT_EQ(bound.bound(BoundMode::kPaper, kPrompt), milliseconds(500));
}

TEST(StageBound, FollowsTheLastSixtyFourStages) {
  StageBound bound;
  for (int i = 0; i < 1000; i++) {
    bound.complete(milliseconds(10), false);
  }
  for (int i = 0; i < 33; i++) {
    bound.complete(milliseconds(20), false);
  }
  EXPECT_EQ(bound.bound(BoundMode::kMedian, kPrompt), milliseconds(25));
}

}  // namespace
}  // namespace ubt
