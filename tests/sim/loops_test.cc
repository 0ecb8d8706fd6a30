// SPDX-License-Identifier: Apache-2.0
//
// The benefit of each control loop, on a simulated network.

#include "tests/sim/run_checked.h"
#include "transport_ubt/core/base/percentile.h"

namespace ubt::sim {
namespace {

// Links of 500 Mbit/s that lose 0.5 % of datagrams, without repair.
SimOptions lossy() {
  SimOptions options;
  options.ops = 200;
  options.elementsMax = 40000;
  options.bytesPerSecond = 6.25e7;
  options.loss = 0.005;
  options.protocol.repair = RepairPolicy::kNone;
  options.protocol.hadamard = Hadamard::kAuto;
  return options;
}

// The senders of a small op send some 36 slots each, and mark the last ones.
// One sender in fifty loses its mark.
TEST(ControlLoops, LostMarksCostLittle) {
  SimOptions options = lossy();
  options.ops = 60;
  options.ranks = 8;
  options.oneShape = true;
  options.elementsMax = 100000;
  options.windowBytes = 2 << 20;
  options.windowBytesMin = 64 << 10;
  options.loss = 0;
  const SimResult without = runChecked(options);
  options.loss = 0.02;
  const SimResult with = runChecked(options);
  EXPECT_LT(percentile(with.opTimes, 0.5),
            percentile(without.opTimes, 0.5) * 2);
  EXPECT_LT(with.pairsMissing * 20, with.boundedOps * 8 * 100000ull);
}

// Transforms are checked shard by shard (SpreadShard).
TEST(Hadamard, IsOnWhileMuchIsLost) {
  SimOptions options = lossy();
  options.loss = 0;
  EXPECT_EQ(runChecked(options).transformed, 0u);
  options.loss = 0.05;
  const SimResult much = runChecked(options);
  EXPECT_GT(much.transformed, much.boundedOps / 2);
  options.protocol.hadamard = Hadamard::kNever;
  EXPECT_EQ(runChecked(options).transformed, 0u);
}

// For one second, one in twenty packets is lost. Before and after it, none is.
TEST(ControlLoops, ComeBackAfterLossThatComesAndGoes) {
  SimOptions options = lossy();
  options.ops = 400;
  options.oneShape = true;
  options.elementsMax = 100000;
  options.lossAt = std::chrono::seconds(1);
  options.lossFor = std::chrono::seconds(1);
  options.loss = 0.05;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_GT(result.transformed, result.returns / 20);
  EXPECT_LT(result.transformed, result.returns / 2);
  ASSERT_GT(result.opTimes.size(), 200u);
  const auto median = [](auto begin) {
    return percentile({begin, begin + 40}, 0.5);
  };
  EXPECT_LT(median(result.opTimes.end() - 40),
            median(result.opTimes.begin()) * 11 / 10);
}

// Ranks that repair nothing drift apart a little, so ops differ by a tenth and
// more. Few cuts would save a margin.
TEST(ControlLoops, TheBudgetIsNotSpentWhereNothingIsLate) {
  SimOptions options = lossy();
  options.ops = 300;
  options.oneShape = true;
  options.elementsMax = 100000;
  options.loss = 0;
  const SimResult result = runChecked(options);
  const double pairs =
      static_cast<double>(result.boundedOps) * options.ranks * 100000;
  EXPECT_LT(result.pairsMissing, options.protocol.cutBudget / 5 * pairs);
}

TEST(Hadamard, RanksMayDifferInForm) {
  for (const RepairPolicy repair :
       {RepairPolicy::kNone, RepairPolicy::kBroadcast, RepairPolicy::kBoth}) {
    for (const SumOrder order : {SumOrder::kArrival, SumOrder::kRank}) {
      SimOptions options = lossy();
      options.ops = 60;
      options.elementsMax = 10000;
      options.loss = 0.02;
      options.lateOps = 0.2;
      options.roughInputs = true;
      options.mixedForms = true;
      options.protocol.hadamard = Hadamard::kAlways;
      options.protocol.repair = repair;
      options.protocol.order = order;
      const SimResult result = runChecked(options);
      EXPECT_GT(result.transformed, 0u);
    }
  }
}

TEST(ControlLoops, ASizeNotSeenYetDoesNotWarmUp) {
  SimOptions options = lossy();
  const SimResult result = runChecked(options);
  // Sizes are random, in ten classes or more. Only one class warms up, and
  // those that occur meanwhile.
  EXPECT_GT(result.boundedOps, result.returns * 7 / 10);
}

// Six threads end warm-up in a different order on each rank.
TEST(SimLoops, AnOpThatIsExactHereAndBoundedThereEnds) {
  SimOptions options;
  options.threads = 6;
  options.ops = 20;
  options.elementsMax = 20000;
  options.oneShape = true;
  options.loss = 0.05;
  options.lateOps = 0.1;
  options.lateBy = std::chrono::milliseconds(20);
  options.protocol.warmupOps = 5;
  options.protocol.repair = RepairPolicy::kNone;
  options.protocol.haltLoss = 0;
  options.protocol.timeout = std::chrono::seconds(5);
  for (options.seed = 1; options.seed <= 8; options.seed++) {
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 0u)
        << ::testing::PrintToString(result.errorTexts) << options.str();
  }
}

}  // namespace
}  // namespace ubt::sim
