// SPDX-License-Identifier: Apache-2.0
//
// Drift as counted, and as far as theory lets replicas come apart
// (docs/semantics.md, Drift).

#include "transport_ubt/sim/replica_drift.h"

#include <gtest/gtest.h>

#include "tests/sim/bounded.h"
#include "tests/sim/run_checked.h"

namespace ubt::sim {
namespace {

constexpr int kRanks = 8;

// Bounds so long that all comes in time which comes at all.
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

// Each of the N - 1 shards that a rank does not own comes in packets, of which
// a share p gets lost.
TEST(ReplicaDrift, IsCountedAsOftenAsPacketsGetLost) {
  const SimResult result = runChecked(job(80));
  EXPECT_NEAR(shareOfResults(result.driftElements, result),
              0.05 * (kRanks - 1) / kRanks,
              0.003);
}

// A fill by the own contribution is off by N - 1 mean squares of a sum.
// Replicas walk at random: with each op by as much again.
TEST(ReplicaDrift, GrowsAsARandomWalkOfFillsDoes) {
  for (const int ops : {60, 120}) {
    const SimResult result = runChecked(job(ops));
    const double bounded = static_cast<double>(result.boundedOps) / kRanks;
    const double theory = bounded *
                          shareOfResults(result.driftElements, result) *
                          (kRanks - 1) * (kRanks - 1) / kRanks;
    ASSERT_GT(theory, 1);
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
