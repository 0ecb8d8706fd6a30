// SPDX-License-Identifier: Apache-2.0
//
// Options that let jobs of many ranks fit one machine do not change the
// results.

#include <gtest/gtest.h>

#include "tests/sim/run_checked.h"

namespace ubt::sim {
namespace {

SimOptions ofRanks(int ranks) {
  SimOptions options;
  options.ranks = ranks;
  options.oneShape = true;
  options.elementsMax = ranks * 1000;
  options.ops = 12;
  options.loss = 0.001;
  options.protocol.warmupOps = 3;
  options.checkResults = false;
  return options;
}

TEST(SimScale, WithoutDataTimesAndLossesAreTheSame) {
  SimOptions options = ofRanks(8);
  options.protocol.repair = RepairPolicy::kNone;
  const SimResult with = runChecked(options);
  options.noData = true;
  const SimResult without = runChecked(options);
  EXPECT_GT(with.pairsMissing, 0u);
  EXPECT_EQ(with.pairsMissing, without.pairsMissing);
  EXPECT_EQ(with.driftElements, without.driftElements);
  EXPECT_EQ(with.opTimes, without.opTimes);
}

// Single ops depend on when a look happens to come, so several jobs count.
TEST(SimScale, HostsThatLookSeldomFinishALittleLater) {
  SimOptions options = ofRanks(16);
  options.noData = true;
  options.loss = 0;
  const Duration look = std::chrono::microseconds(20);
  Duration longer{0};
  size_t ops = 0;
  for (options.seed = 1; options.seed <= 6; options.seed++) {
    options.wakesEvery = Duration{0};
    const SimResult atOnce = runChecked(options);
    options.wakesEvery = look;
    const SimResult seldom = runChecked(options);
    EXPECT_EQ(seldom.errors, 0u);
    EXPECT_EQ(seldom.pairsMissing, 0u);
    ASSERT_EQ(seldom.opTimes.size(), atOnce.opTimes.size());
    for (size_t op = 0; op < atOnce.opTimes.size(); op++) {
      EXPECT_GT(seldom.opTimes[op], atOnce.opTimes[op]);
      longer += seldom.opTimes[op] - atOnce.opTimes[op];
      ops++;
    }
  }
  // Two stages and a round trip of credit take at most a dozen looks.
  EXPECT_LT(longer, ops * 12 * look);
}

// Each rank owes 62 KB to each other one, which would fit one train. If it were
// sent as one train, results would wait until nearly all contributions are
// there.
TEST(SimScale, StagesOverlapHoweverManyRanksThereAre) {
  SimOptions options = ofRanks(64);
  options.elementsMax = 1000000;
  options.noData = true;
  options.loss = 0;
  options.ops = 8;
  options.slotBytes = 8928;
  options.windowBytes = options.windowBytesMin = 16 << 20;
  options.queueBytes = 5 << 20;
  options.wakesEvery = std::chrono::microseconds(20);
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.pairsMissing, 0u);
  const double bucket = 4.0 * options.elementsMax / options.bytesPerSecond;
  for (const Duration time : result.opTimes) {
    EXPECT_LT(std::chrono::duration<double>(time).count(),
              1.1 * bucket * 126 / 64);
  }
}

}  // namespace
}  // namespace ubt::sim
