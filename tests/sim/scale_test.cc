// SPDX-License-Identifier: Apache-2.0
//
// Options that let jobs of many ranks fit one machine do not change the
// results.

#include <gtest/gtest.h>

#include <chrono>

#include "tests/sim/run_checked.h"
#include "transport_ubt/core/base/percentile.h"
#include "transport_ubt/sim/exact_job.h"

namespace ubt::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

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

// Nothing is lost.
SimOptions withoutData(int ranks) {
  SimOptions options = ofRanks(ranks);
  options.noData = true;
  options.loss = 0;
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
  SimOptions options = withoutData(16);
  const Duration look = microseconds(20);
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
  SimOptions options = withoutData(64);
  options.elementsMax = 1000000;
  options.ops = 8;
  options.slotBytes = 8928;
  options.windowBytes = options.windowBytesMin = 16 << 20;
  options.queueBytes = 5 << 20;
  options.wakesEvery = microseconds(20);
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.pairsMissing, 0u);
  const double bucket = 4.0 * options.elementsMax / options.bytesPerSecond;
  for (const Duration time : result.opTimes) {
    EXPECT_LT(std::chrono::duration<double>(time).count(),
              1.1 * bucket * 126 / 64);
  }
}

// Links of 100 Gbit/s, whose delays have a tail. The window is large: it has
// room for several stages of each sender.
TEST(SimScale, EachOfManyRanksHasCreditForItsStage) {
  SimOptions options = withoutData(32);
  options.elementsMax = 1000000;
  options.ops = 30;
  options.protocol.warmupOps = 20;
  options.slotBytes = 8928;
  options.bytesPerSecond = 12.5e9;
  options.queueBytes = 50 << 20;
  options.windowBytes = 16 << 20;
  options.windowBytesMin = 64 << 10;
  options.arenaBytes = 1 << 30;
  options.trainBytes = 64256;
  options.pathDelay = microseconds(50);
  options.pathTail = 1.5;
  options.pathEvery = milliseconds(2);
  options.wakesEvery = microseconds(20);
  options.lateness = microseconds(100);
  const SimResult result = runChecked(options);
  ASSERT_EQ(result.opTimes.size(), 10u);
  EXPECT_LT(percentile(result.opTimes, 0.5),
            percentile(exactTimes(options, "transpose"), 0.5) * 95 / 100);
}

}  // namespace
}  // namespace ubt::sim
