// SPDX-License-Identifier: Apache-2.0
//
// The tail that remains under bursts of other users.

#include "tests/sim/run_checked.h"
#include "tests/sim/slow_links.h"
#include "transport_ubt/core/base/percentile.h"

namespace ubt::sim {
namespace {

using std::chrono::milliseconds;

// The paper's policy, without additions.
SimOptions unrepaired(int ranks, int ops, uint32_t elements) {
  SimOptions options;
  options.ranks = ranks;
  options.ops = ops;
  options.oneShape = true;
  options.elementsMax = elements;
  options.protocol.repair = RepairPolicy::kNone;
  options.protocol.hadamard = Hadamard::kNever;
  return options;
}

// A quarter of the lab's size and times, by the paper's policy.
SimOptions job(bool burst) {
  SimOptions options = slowLinks(90, 250000, RepairPolicy::kNone);
  if (burst) {
    addBursts(&options);
  }
  return options;
}

TEST(Tail, LinksAreFullWithoutOtherTraffic) {
  const SimOptions options = job(false);
  const SimResult result = runChecked(options);
  // Twice 7 / 8 of the bucket, with headers, at the rate of a link.
  const Duration line = milliseconds(31);
  EXPECT_LT(percentile(result.opTimes, 0.5), line * 11 / 10);
  EXPECT_LT(missing(result, options), 0.0005);
}

// A window of the size that suits most switches would lose most of its data,
// again and again.
TEST(Tail, ShortQueuesAreFilledAndNotFlooded) {
  SimOptions options = job(false);
  options.ops = 50;
  options.ranks = 16;
  options.elementsMax = 125000;
  options.bytesPerSecond = 1.25e8;
  Duration deep{0};
  Duration flat{0};
  double lost = 0;
  for (const uint64_t seed : {1, 2, 3}) {
    options.seed = seed;
    options.queueBytes = 512 << 10;
    deep += percentile(runChecked(options).opTimes, 0.5);
    options.queueBytes = 128 << 10;
    const SimResult result = runChecked(options);
    flat += percentile(result.opTimes, 0.5);
    lost += missing(result, options) / 3;
  }
  EXPECT_LT(lost, 0.05);
  EXPECT_LT(flat, deep * 7 / 4);  // nearly 4 if the queue is flooded
}

// Bounds are set by hand. A rank that lacks a slot waits until both stages end.
// A rank that lacks none is ahead by half of that. If they stayed apart, every
// rank would leave out all others.
TEST(Tail, RanksThatPartMeetAgain) {
  SimOptions options = unrepaired(3, 60, 100000);
  options.loss = 0.02;
  options.protocol.haltLoss = 0;
  options.protocol.warmupOps = 0;
  options.protocol.boundScatter = milliseconds(30);
  options.protocol.boundBroadcast = milliseconds(30);
  for (const uint64_t seed : {1, 2, 3}) {
    options.seed = seed;
    // One in fifty of two of three contributions is lost, and as many of their
    // sums.
    EXPECT_LT(missing(runChecked(options), options), 0.08);
  }
}

// A burst delays results, and the other ranks wait for them.
TEST(Tail, LittleIsLeftOutWhereResultsAreRepaired) {
  SimOptions options = job(true);
  options.protocol.repair = RepairPolicy::kBroadcast;
  for (const uint64_t seed : {1, 2, 3}) {
    options.seed = seed;
    EXPECT_LT(missing(runChecked(options), options), 0.04) << seed;
  }
}

}  // namespace
}  // namespace ubt::sim
