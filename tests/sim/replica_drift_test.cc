// SPDX-License-Identifier: Apache-2.0
//
// Compares the counted drift with the theory of how far replicas drift apart
// (docs/semantics.md, Drift).

#include "transport_ubt/sim/replica_drift.h"

#include <gtest/gtest.h>

#include "tests/sim/bounded.h"
#include "tests/sim/run_checked.h"

namespace ubt::sim {
namespace {

constexpr int kRanks = 8;

// The bounds are so long that every packet that is not lost comes in time.
SimOptions job(int ops) {
  SimOptions options = bounded(50);
  options.ranks = kRanks;
  options.oneShape = true;
  options.elementsMax = 20000;
  options.measureError = true;
  options.ops = ops;
  options.loss = 0.05;
  options.protocol.repair = RepairPolicy::kNone;
  options.protocol.hadamard = Hadamard::kNever;
  return options;
}

double shareOfResults(uint64_t count, const SimResult& result) {
  return static_cast<double>(count) /
         (static_cast<double>(result.boundedOps) * 20000);
}

// A rank does not own N - 1 shards. They come in packets, and a fraction p of
// these gets lost.
TEST(ReplicaDrift, IsCountedAsOftenAsPacketsGetLost) {
  const SimResult result = runChecked(job(80));
  EXPECT_NEAR(shareOfResults(result.driftElements, result),
              0.05 * (kRanks - 1) / kRanks,
              0.003);
}

// A zero in place of a sum has a squared error of one mean square of a sum.
// Replicas do a random walk: each op adds the same again.
TEST(ReplicaDrift, GrowsAsARandomWalkDoes) {
  for (const int ops : {60, 120}) {
    const SimResult result = runChecked(job(ops));
    const double bounded = static_cast<double>(result.boundedOps) / kRanks;
    const double theory = bounded *
                          shareOfResults(result.driftElements, result) *
                          (kRanks - 1) / kRanks;
    ASSERT_GT(theory, .1);
    EXPECT_NEAR(result.drift.meanSquare(), theory, theory / 10);
  }
}

TEST(ReplicaDrift, IsNoneWhereResultsAreRepaired) {
  SimOptions options = job(60);
  options.protocol.repair = RepairPolicy::kBroadcast;
  const SimResult result = runChecked(options);
  EXPECT_GT(result.pairsMissing, 0u);
  EXPECT_EQ(result.driftElements, 0u);
  EXPECT_EQ(result.drift.meanSquare(), 0);
}

}  // namespace
}  // namespace ubt::sim
