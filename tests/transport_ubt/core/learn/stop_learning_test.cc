// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/stop_learning.h"

#include <gtest/gtest.h>

#include "tests/transport_ubt/core/one_rank.h"
#include "transport_ubt/core/learn/usual_times.h"

namespace ubt {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kRanks = 4;
constexpr Duration kLimit = seconds(30);
constexpr Duration kLateness = milliseconds(1);

class StopLearningTest : public ::testing::Test {
 protected:
  explicit StopLearningTest(RepairPolicy repair = RepairPolicy::kBroadcast)
      : options_(optionsOf(repair)) {}
  static Options optionsOf(RepairPolicy repair) {
    Options options;
    options.warmupOps = 2;
    options.repair = repair;
    return options;
  }

  static OpShape shape(uint64_t bytes) { return floats(bytes / sizeof(float)); }
  // All ranks took that long. One entered so late that cuts pay.
  static OpSample sample(uint64_t bytes, Duration took, bool warmup = false) {
    OpSample sample;
    sample.bytes = bytes;
    sample.warmup = warmup;
    sample.senders.resize(kRanks, {took, false});
    sample.lastEntry = seconds(1);
    sample.resultsTook = 2 * took;
    return sample;
  }
  // The ops return here, and are done everywhere.
  void run(const OpSample& op, int ops = 1) {
    for (int i = 0; i < ops; i++) {
      learning_.returned(op);
      learning_.done(op);
    }
  }
  void warmUp(uint64_t bytes, Duration took) {
    for (int i = 0; i < 2; i++) {
      learning_.returned(sample(bytes, took, true));
    }
  }
  // The tokens for absent ranks that this op and one before it earn.
  double earnedIn(const OpSample& op) {
    OpSample absent = sample(op.bytes, milliseconds(10));
    absent.cutAbsent = bounds(op.bytes).absentMost;  // spends all
    run(absent);
    run(op);
    return bounds(op.bytes).absentMost;
  }
  OpBounds bounds(uint64_t bytes) {
    return learning_.boundsFor(shape(bytes), kLateness, kLimit);
  }

  // All size classes have the same x.
  double factor() { return bounds(1 << 20).stop.factor; }

  Options options_;
  StopLearning learning_{options_, kRanks};
};

TEST_F(StopLearningTest, TheFirstOpsAreExact) {
  EXPECT_TRUE(bounds(1 << 20).exact());
  learning_.returned(sample(1 << 20, milliseconds(10), true));
  EXPECT_TRUE(bounds(1 << 20).exact());
  learning_.returned(sample(1 << 20, milliseconds(10), true));
  const OpBounds learned = bounds(1 << 20);
  EXPECT_EQ(learned.rule, OpBounds::Rule::kLearned);
  EXPECT_EQ(learned.limit, kLimit);
  EXPECT_EQ(learned.stop.usual, milliseconds(10));
  EXPECT_EQ(learned.resultsStop.usual, milliseconds(20));
  EXPECT_EQ(learned.stop.factor, CutFactor::kFirst);
  EXPECT_EQ(learned.stop.margin, 2 * kLateness);
}

TEST_F(StopLearningTest, AbsentRanksAreCutOnceRanksHaveBeenLong) {
  warmUp(1 << 20, milliseconds(10));
  EXPECT_EQ(bounds(1 << 20).absentMost, 0);
  OpSample soon = sample(1 << 20, milliseconds(10));
  soon.lastEntry = milliseconds(15);
  run(soon);
  run(sample(1 << 20, milliseconds(10)), 2);
  EXPECT_EQ(bounds(1 << 20).absentMost, 0);
  run(sample(1 << 20, milliseconds(10)));
  EXPECT_DOUBLE_EQ(bounds(1 << 20).absentMost,
                   AbsenceBudget::kFirst + 4 * options_.cutBudget);
}

TEST_F(StopLearningTest, AClassBorrowsFromItsNeighbours) {
  warmUp(1 << 20, milliseconds(10));
  EXPECT_EQ(bounds(1 << 22).stop.usual, milliseconds(40));  // four times
  EXPECT_EQ(bounds(1 << 18).stop.usual, milliseconds(10));
  warmUp(1 << 23, milliseconds(25));
  EXPECT_EQ(bounds(1 << 22).stop.usual, milliseconds(25));  // the shorter one
  EXPECT_EQ(bounds(1 << 24).stop.usual, milliseconds(50));  // of the nearest
}

TEST_F(StopLearningTest, TheMarginIsATenthOfAStep) {
  warmUp(1 << 20, milliseconds(10));
  for (int i = 0; i < 10; i++) {
    learning_.begins(TimePoint(milliseconds(100 * i)), shape(1 << 20));
    learning_.begins(TimePoint(milliseconds(100 * i + 5)), shape(1 << 20));
    learning_.ends();
    learning_.ends();
  }
  EXPECT_EQ(bounds(1 << 20).stop.margin, milliseconds(10));
}

TEST_F(StopLearningTest, EachCauseMayUseWhatTheOtherLeaves) {
  warmUp(1 << 20, milliseconds(10));
  // Nothing is cut: x falls, and tokens are earned at the full rate.
  run(sample(1 << 20, milliseconds(10)), 2);
  EXPECT_LT(factor(), CutFactor::kFirst);
  EXPECT_DOUBLE_EQ(bounds(1 << 20).absentMost,
                   AbsenceBudget::kFirst + 2 * options_.cutBudget);
  // The network uses up the budget: absent ranks keep half.
  OpSample cut = sample(1 << 20, milliseconds(10));
  cut.cutLate = .1;
  run(cut, 1000);
  EXPECT_EQ(factor(), CutFactor::kMax);
  EXPECT_NEAR(earnedIn(cut), options_.cutBudget, 1e-9);
}

// Under kNone results may be cut, too. At first each stage has half of the
// budget.
class StopLearningNoneTest : public StopLearningTest {
 protected:
  StopLearningNoneTest() : StopLearningTest(RepairPolicy::kNone) {}
};

TEST_F(StopLearningNoneTest, ContributionsMayUseWhatResultsLeave) {
  warmUp(1 << 20, milliseconds(10));
  run(sample(1 << 20, milliseconds(10)), 1000);
  EXPECT_NEAR(earnedIn(sample(1 << 20, milliseconds(10))),
              2 * options_.cutBudget,
              1e-8);
  OpSample cut = sample(1 << 20, milliseconds(10));
  cut.cutResults = .1;
  run(cut, 1000);
  EXPECT_NEAR(earnedIn(cut), options_.cutBudget, 1e-9);
}

TEST_F(StopLearningNoneTest, EachStageBeginsWithHalfOfTheBudget) {
  warmUp(1 << 20, milliseconds(10));
  OpSample half = sample(1 << 20, milliseconds(10));
  half.cutLate = half.cutResults = options_.cutBudget / 2;
  run(half);
  EXPECT_DOUBLE_EQ(factor(), CutFactor::kFirst);
  EXPECT_DOUBLE_EQ(bounds(1 << 20).resultsStop.factor, CutFactor::kFirst);
  run(half);
  EXPECT_NEAR(bounds(1 << 20).absentMost,
              AbsenceBudget::kFirst + options_.cutBudget,
              2e-4);
}

TEST_F(StopLearningTest, AnAbsentRanksTimeIsKnownWhenItHasEntered) {
  warmUp(1 << 20, milliseconds(10));
  OpSample op = sample(1 << 20, milliseconds(10));
  op.senders[3] = {Duration{-1}, true};
  for (int i = 0; i < 10; i++) {
    learning_.returned(op);
  }
  EXPECT_EQ(bounds(1 << 20).stop.usual, milliseconds(10));
  op.senders[3].took = milliseconds(30);
  for (int i = 0; i < 64; i++) {
    learning_.done(op);
  }
  EXPECT_EQ(bounds(1 << 20).stop.usual, milliseconds(30));
}

// Each of them raises the usual time, but not the limit of the next one.
TEST_F(StopLearningTest, RanksThatAreCutInOneOpHaveOneLimit) {
  OpSample op = sample(1 << 20, milliseconds(10), true);
  for (const int rank : {1, 2, 3}) {
    op.senders[rank] = {Duration{-1}, true};
  }
  learning_.returned(op);
  learning_.done(op);
  learning_.returned(op);
  EXPECT_EQ(bounds(1 << 20).stop.usual,
            UsualTimes::kProjectionMost * milliseconds(10));
}

TEST_F(StopLearningTest, WithoutABudgetNothingIsCut) {
  options_.cutBudget = 0;
  warmUp(1 << 20, milliseconds(10));
  learning_.returned(sample(1 << 20, milliseconds(10)));
  EXPECT_FALSE(bounds(1 << 20).cuts);
  EXPECT_EQ(factor(), CutFactor::kFirst);
}

TEST_F(StopLearningTest, ABoundByHandIsKept) {
  options_.boundScatter = milliseconds(5);
  options_.boundBroadcast = milliseconds(7);
  options_.warmupOps = 0;
  options_.repair = RepairPolicy::kNone;
  const OpBounds byHand = bounds(1 << 20);
  EXPECT_TRUE(byHand.byHand());
  EXPECT_EQ(byHand.scatter, milliseconds(5));
  EXPECT_EQ(byHand.broadcast, milliseconds(7));
}

}  // namespace
}  // namespace ubt
