// SPDX-License-Identifier: Apache-2.0
//
// The paper's loops (PaperBounds, Incast), on a simulated network.

#include "tests/sim/run_checked.h"
#include "tests/sim/slow_links.h"
#include "transport_ubt/core/base/percentile.h"

namespace ubt::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

SimOptions job(RepairPolicy repair) {
  SimOptions options = slowLinks(90, 250000, repair);
  options.protocol.loops = Loops::kPaper;
  return options;
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
    SimOptions options = job(repair);
    addBursts(&options);
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
