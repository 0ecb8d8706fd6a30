// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/paper_bounds.h"

#include <gtest/gtest.h>

#include "tests/transport_ubt/core/one_rank.h"
#include "transport_ubt/core/learn/learning.h"

namespace ubt {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kLimit = seconds(30);
constexpr Duration kLateness = milliseconds(1);

OpSample::End end(Duration took, uint64_t missing = 0) {
  return {took, Duration{0}, 1000 - missing, missing};
}

class PaperBoundsTest : public ::testing::Test {
 protected:
  PaperBoundsTest() {
    options_.loops = Loops::kPaper;
    options_.warmupOps = 3;
  }

  static OpSample sample(Duration took, uint64_t bytes = 1 << 20) {
    OpSample sample;
    sample.bytes = bytes;
    sample.scatterEnd = end(took);
    sample.resultsEnd = end(2 * took);
    return sample;
  }
  void warmUp(Duration took, uint64_t bytes = 1 << 20) {
    for (int i = 0; i < 3; i++) {
      bounds_.returned(sample(took, bytes));
    }
  }
  OpBounds bounds(uint64_t bytes = 1 << 20, Duration limit = kLimit) {
    return bounds_.boundsFor(floats(bytes / sizeof(float)), kLateness, limit);
  }

  Options options_;
  PaperBounds bounds_{options_};
};

TEST_F(PaperBoundsTest, TheFirstOpsOfASizeAreExact) {
  EXPECT_TRUE(bounds().exact());
  warmUp(milliseconds(10));
  const OpBounds learned = bounds();
  EXPECT_TRUE(learned.paper());
  EXPECT_EQ(learned.limit, kLimit);
  EXPECT_EQ(learned.paperScatter.bound, milliseconds(10));
  EXPECT_EQ(learned.paperResults.bound, milliseconds(20));
  EXPECT_TRUE(bounds(1 << 22).exact());  // nothing is borrowed
}

TEST_F(PaperBoundsTest, TheWaitAfterMarksIsAShareOfTheUsualTime) {
  warmUp(milliseconds(10));
  // 10 %, less a point for each op without loss.
  EXPECT_NEAR(bounds().paperScatter.grace.count(), 700000, 1);  // ns
  OpSample lossy = sample(milliseconds(10));
  lossy.resultsEnd.missing = 5;  // of 2,005
  bounds_.returned(lossy);
  EXPECT_NEAR(bounds().paperScatter.grace.count(), 1400000, 1);
}

TEST_F(PaperBoundsTest, AStageLeavesTheOtherItsShareOfTheTimeout) {
  warmUp(milliseconds(10));
  EXPECT_EQ(bounds(1 << 20, milliseconds(12)).paperResults.bound,
            milliseconds(6));
}

TEST_F(PaperBoundsTest, AStageWithoutDataInTheWarmUpBorrowsTheOthersBound) {
  OpSample small = sample(milliseconds(10));
  small.scatterEnd = {};
  for (int i = 0; i < 3; i++) {
    bounds_.returned(small);
  }
  EXPECT_EQ(bounds().paperScatter.bound, milliseconds(20));
}

TEST_F(PaperBoundsTest, WithoutSamplesOpsStayExact) {
  options_.warmupOps = 0;
  EXPECT_TRUE(bounds().exact());
  bounds_.returned(sample(milliseconds(10)));
  EXPECT_FALSE(bounds().exact());
}

TEST_F(PaperBoundsTest, LearningChoosesTheLoops) {
  Learning paper(options_, 4);
  for (int i = 0; i < 3; i++) {
    paper.returned(sample(milliseconds(10)), {});
  }
  const OpShape shape = floats((1 << 20) / sizeof(float));
  EXPECT_TRUE(paper.boundsFor(shape, kLateness, kLimit).paper());
  options_.boundScatter = options_.boundBroadcast = milliseconds(5);
  options_.warmupOps = 0;
  Learning byHand(options_, 4);
  EXPECT_TRUE(byHand.boundsFor(shape, kLateness, kLimit).byHand());
}

}  // namespace
}  // namespace ubt
