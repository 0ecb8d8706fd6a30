// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/paper_stage.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Of 100 slots, `missing` had not come at the end.
OpSample::End end(Duration took, uint64_t missing = 0) {
  OpSample::End end;
  end.took = took;
  end.came = 100 - missing;
  end.missing = missing;
  return end;
}

PaperStage warm() {
  PaperStage stage;
  for (int i = 1; i <= 20; i++) {
    stage.returned(end(milliseconds(i == 20 ? 90 : 40)));
  }
  stage.fix();
  return stage;
}

TEST(PaperStage, TheBoundIsThe95thPercentileOfTheWarmUp) {
  PaperStage stage;
  EXPECT_FALSE(stage.any());
  for (int i = 1; i <= 20; i++) {
    stage.returned(end(milliseconds(i)));
  }
  EXPECT_EQ(stage.bound(), Duration{0});  // while it lasts
  stage.fix();
  EXPECT_EQ(stage.bound(), milliseconds(20));
  stage.returned(end(milliseconds(5)));
  stage.fix();
  EXPECT_EQ(stage.bound(), milliseconds(20));  // it stays
}

TEST(PaperStage, WithoutAnOpNothingIsKnown) {
  PaperStage stage;
  stage.returned({});  // an op without this stage
  stage.fix();
  EXPECT_FALSE(stage.any());
  EXPECT_EQ(stage.bound(), Duration{0});
  EXPECT_EQ(stage.usual(), Duration{0});
}

TEST(PaperStage, TheUsualTimeIsAMovingAverage) {
  PaperStage stage;
  stage.returned(end(milliseconds(10)));
  EXPECT_EQ(stage.usual(), milliseconds(10));
  stage.returned(end(milliseconds(30)));
  EXPECT_EQ(stage.usual(), milliseconds(11));
}

TEST(PaperStage, AnEarlyEndCountsWithTheTimeForEverything) {
  PaperStage stage = warm();
  const Duration before = stage.usual();
  // 30 ms for three quarters are 40 ms for all.
  stage.returned(end(milliseconds(30), 25));
  EXPECT_EQ(stage.usual(), wholeNanoseconds(.95 * before) + milliseconds(2));
}

TEST(PaperStage, AnEndByTheBoundCountsWithTheBound) {
  PaperStage stage = warm();
  const Duration before = stage.usual();
  stage.returned(end(milliseconds(91), 99));  // noticed late
  EXPECT_EQ(stage.usual(), wholeNanoseconds(.95 * before) + microseconds(4500));
}

TEST(PaperStage, AnEarlyEndWithHardlyAnyDataCountsAtMostTheBound) {
  PaperStage stage = warm();
  const Duration before = stage.usual();
  stage.returned(end(milliseconds(60), 100));
  EXPECT_EQ(stage.usual(), wholeNanoseconds(.95 * before) + microseconds(4500));
}

}  // namespace
}  // namespace ubt
