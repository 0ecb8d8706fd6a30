// SPDX-License-Identifier: Apache-2.0
//
// Ops in groups of ranks, with three stages.

#include <gtest/gtest.h>

#include "tests/sim/bounded.h"
#include "tests/sim/run_checked.h"

namespace ubt::sim {
namespace {

struct Ranks {
  int ranks;
  int groups;
};

constexpr Ranks kSome[] = {{2, 2}, {4, 2}, {6, 3}, {6, 2}, {5, 5}, {8, 4}};

SimOptions warmingUp(const Ranks& ranks) {
  SimOptions options;
  options.ranks = ranks.ranks;
  options.groups = ranks.groups;
  options.elementsMax = 10000;
  options.ops = 15;
  options.protocol.warmupOps = 1000;
  options.protocol.timeout = std::chrono::seconds(5);
  return options;
}

SimOptions boundedIn(const Ranks& ranks, int boundMs) {
  SimOptions options = bounded(boundMs);
  options.ranks = ranks.ranks;
  options.groups = ranks.groups;
  options.elementsMax = 10000;
  options.ops = 15;
  return options;
}

TEST(SimGroups, ZeroLossIsExactEverywhere) {
  for (const Ranks& ranks : kSome) {
    const SimOptions options = boundedIn(ranks, 100);
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.ops, static_cast<uint64_t>(options.ops));
    EXPECT_EQ(result.returns, result.ops * ranks.ranks);
    EXPECT_EQ(result.boundedOps, result.returns);
    EXPECT_EQ(result.pairsMissing, 0u);
    EXPECT_EQ(result.driftElements, 0u);
    EXPECT_EQ(result.errors, 0u);
    // No rank gets data that is not meant for it.
    EXPECT_EQ(result.counters.get(Counter::kMismatched), 0u);
  }
}

TEST(SimGroups, ARankTalksToItsGroupAndToItsCoOwners) {
  SimOptions options = boundedIn({16, 4}, 100);
  options.oneShape = false;
  options.protocol.warmupOps = 0;
  const SimResult grouped = runChecked(options);
  EXPECT_EQ(grouped.pairsMissing, 0u);
  options.groups = 1;
  const SimResult plain = runChecked(options);
  // In groups: 2 (N / G - 1) + (G - 1) messages of a shard. Plain: 2 (N - 1)
  // messages of a shard a fourth as large. Slots have one size, so 9 * 4 slots
  // replace 30.
  EXPECT_LT(grouped.counters.get(Counter::kAcceptedData),
            plain.counters.get(Counter::kAcceptedData) * 36 / 30 * 11 / 10);
}

TEST(SimGroups, WarmupIsExactUnderLoss) {
  for (const Ranks& ranks : kSome) {
    SimOptions options = warmingUp(ranks);
    options.loss = 0.05;
    options.duplicate = 0.02;
    options.reorder = 0.05;
    options.lateOps = 0.2;
    options.lateBy = std::chrono::milliseconds(5);
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 0u);
    EXPECT_EQ(result.boundedOps, 0u);
    EXPECT_EQ(result.pairsMissing, 0u);
    EXPECT_GT(result.repairedBytes, 0u);
  }
}

TEST(SimGroups, AFullArenaLeavesWarmupExact) {
  for (const SumOrder order : {SumOrder::kArrival, SumOrder::kRank}) {
    SimOptions options = warmingUp({6, 3});
    options.protocol.order = order;
    options.arenaBytes = 16 << 10;
    options.loss = 0.02;
    options.lateOps = 0.2;
    options.lateBy = std::chrono::milliseconds(20);
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 0u)
        << ::testing::PrintToString(result.errorTexts) << options.str();
    EXPECT_EQ(result.pairsMissing, 0u);
    EXPECT_EQ(result.driftElements, 0u);
    EXPECT_GT(result.counters.get(Counter::kArenaFull), 0u);
  }
}

// An owner needs room for the data that it keeps for others when it returns,
// not only after its call. The arena sizes that leave none depend on the room
// that an op takes.
TEST(SimGroups, NoSizeOfArenaMakesWarmupTimeOut) {
  SimOptions options = warmingUp({6, 3});
  options.protocol.order = SumOrder::kRank;
  options.loss = 0.02;
  options.lateOps = 0.2;
  options.lateBy = std::chrono::milliseconds(20);
  for (options.seed = 1; options.seed <= 3; options.seed++) {
    for (options.arenaBytes = 14000; options.arenaBytes <= 26000;
         options.arenaBytes += 500) {
      const SimResult result = runChecked(options);
      EXPECT_EQ(result.errors, 0u)
          << ::testing::PrintToString(result.errorTexts) << options.str();
      EXPECT_EQ(result.counters.get(Counter::kNotRetained), 0u);
    }
  }
}

// Ranks ask for sums of other groups in the same way as for results.
TEST(SimGroups, BroadcastRepairLeavesNoDrift) {
  for (const Ranks& ranks : kSome) {
    SimOptions options = boundedIn(ranks, 20);
    options.loss = 0.01;
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 0u);
    EXPECT_EQ(result.driftElements, 0u);
    // Groups of one rank lose only sums. But a rank that is late, because it
    // waited for the sums of the last op, may be left out by all others.
    if (ranks.ranks > ranks.groups) {
      EXPECT_GT(result.pairsMissing, 0u);
    }
  }
}

TEST(SimGroups, BothRepairsLeaveNothingOut) {
  SimOptions options = boundedIn({6, 2}, 50);
  options.loss = 0.01;
  options.protocol.repair = RepairPolicy::kBoth;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.pairsMissing, 0u);
}

// Missing sums of other groups are rescaled, reported and counted. The checker
// checks that.
TEST(SimGroups, WithoutRepairGroupsDriftApart) {
  SimOptions options = boundedIn({4, 4}, 10);
  options.loss = 0.05;
  options.protocol.repair = RepairPolicy::kNone;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_GT(result.driftElements, 0u);
}

TEST(SimGroups, AStragglerDelaysNobodyAndNobodyDrifts) {
  SimOptions options = boundedIn({6, 2}, 10);
  options.lateOps = 0.1;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_GT(result.pairsMissing, 0u);
  EXPECT_EQ(result.driftElements, 0u);
}

TEST(SimGroups, NoRankSkipsAlone) {
  SimOptions options = boundedIn({6, 3}, 5);
  options.loss = 0.05;
  options.lateOps = 0.1;
  options.protocol.repair = RepairPolicy::kNone;
  options.protocol.skipLoss = 0.06;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_GT(result.skipped, 0u);
  EXPECT_EQ(result.skipped % options.ranks, 0u);
  EXPECT_EQ(result.driftElements, 0u);
}

TEST(SimGroups, EveryPacketLostIsAnErrorByTheTimeout) {
  SimOptions options = boundedIn({4, 2}, 10);
  options.loss = 1;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.returns, 0u);
  EXPECT_EQ(result.errors, 4u);
}

TEST(SimGroups, ARankThatDiesIsNamedByAllOthers) {
  for (const uint32_t warmupOps : {0, 1000}) {
    SimOptions options = boundedIn({6, 3}, 10);
    options.protocol.warmupOps = warmupOps;
    options.ops = 200;
    options.crashes = 2;
    options.crashAt = std::chrono::milliseconds(20);
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 5u);
    for (const std::string& text : result.errorTexts) {
      EXPECT_EQ(text, "rank 2 died");
    }
  }
}

TEST(SimGroups, RanksThatDisagreeAreNamedEverywhere) {
  for (uint64_t seed = 1; seed <= 10; seed++) {
    SimOptions options = boundedIn({6, 2}, 10);
    options.seed = seed;
    options.lateOps = 0.3;
    options.lateBy = std::chrono::milliseconds(5);
    options.disagrees = 2;
    options.errorEnds = true;
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 6u);
    for (const std::string& text : result.errorTexts) {
      EXPECT_NE(text.find("rank 2 brings"), std::string::npos)
          << text << "\n  " << options.str();
    }
  }
}

TEST(SimGroups, ByRankRunsAreTheSameBitForBit) {
  std::vector<uint64_t> bits;
  for (const uint64_t timingSeed : {1, 2, 3}) {
    SimOptions options = boundedIn({6, 2}, 100);
    options.roughInputs = true;
    options.reorder = 0.5;
    options.protocol.order = SumOrder::kRank;
    options.timingSeed = timingSeed;
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.pairsMissing, 0u);
    bits.push_back(result.resultBits);
  }
  EXPECT_EQ(bits, std::vector<uint64_t>(3, bits[0]));
}

}  // namespace
}  // namespace ubt::sim
