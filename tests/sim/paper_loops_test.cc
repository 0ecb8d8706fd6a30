// SPDX-License-Identifier: Apache-2.0
//
// The paper's loops (PaperBounds, Incast), on a simulated network.

#include "tests/sim/run_checked.h"
#include "transport_ubt/core/base/percentile.h"

namespace ubt::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Links of 500 Mbit/s and ops of 30 ms: a quarter of the lab's size and times.
SimOptions job(RepairPolicy repair) {
  SimOptions options;
  options.ranks = 8;
  options.ops = 90;
  options.oneShape = true;
  options.elementsMax = 250000;
  options.bytesPerSecond = 6.25e7;
  options.windowBytes = 2 << 20;
  options.protocol.loops = Loops::kPaper;
  options.protocol.repair = repair;
  options.protocol.hadamard = Hadamard::kNever;
  return options;
}

// Every 500 ms two hosts send to a third one for 100 ms, with two thirds of its
// rate.
SimOptions withBursts(RepairPolicy repair) {
  SimOptions options = job(repair);
  options.burstEvery = milliseconds(500);
  options.burstLeast = milliseconds(95);
  options.burstMost = milliseconds(108);
  options.burstSources = 2;
  options.burstShare = 0.344;
  return options;
}

double missing(const SimResult& result, const SimOptions& options) {
  return static_cast<double>(result.pairsMissing) /
         (static_cast<double>(result.boundedOps) * options.ranks *
          options.elementsMax);
}

TEST(PaperLoops, OpsWithoutFaultsEndAndLackLittle) {
  for (const RepairPolicy repair :
       {RepairPolicy::kNone, RepairPolicy::kBroadcast}) {
    const SimOptions options = job(repair);
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 0u);
    EXPECT_EQ(result.opTimes.size(), 70u);  // 20 ops are of the warm-up
    EXPECT_LT(missing(result, options), 0.05);
    EXPECT_LT(percentile(result.opTimes, 0.5), milliseconds(150));
  }
}

TEST(PaperLoops, BurstsAreCut) {
  for (const RepairPolicy repair :
       {RepairPolicy::kNone, RepairPolicy::kBroadcast}) {
    const SimOptions options = withBursts(repair);
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 0u);
    EXPECT_GT(result.cutBytes, 0u);
    EXPECT_GT(result.pairsMissing, 0u);
    EXPECT_LT(missing(result, options), 0.5);
  }
}

// No rank waits for one that computes long: tB ends the stage.
TEST(PaperLoops, AnAbsentRankIsCut) {
  SimOptions options = job(RepairPolicy::kBroadcast);
  options.lateRank = 3;
  options.lateOps = 0.2;
  options.lateBy = seconds(2);
  options.protocol.timeout = seconds(20);
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_GT(result.pairsMissing, 0u);
}

TEST(PaperLoops, ManyKindsOfJobsKeepThePromises) {
  for (uint64_t seed = 1; seed <= 60; seed++) {
    SimOptions options = SimOptions::fromSeed(seed);
    options.protocol.loops = Loops::kPaper;
    runChecked(options);
  }
}

}  // namespace
}  // namespace ubt::sim
