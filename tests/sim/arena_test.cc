// SPDX-License-Identifier: Apache-2.0
//
// Arenas that are full: exact ops stay exact, and no shard that another rank
// lacks is lost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/bounded.h"
#include "tests/sim/run_checked.h"

namespace ubt::sim {
namespace {

// An arena with no room for early data or for a shard that others lack. In rank
// order it also has no room for contributions that wait for their turn.
class FullArena : public ::testing::TestWithParam<SumOrder> {};

TEST_P(FullArena, LeavesWarmupExact) {
  for (const double loss : {0.0, 0.02}) {
    SimOptions options;
    options.protocol.order = GetParam();
    options.arenaBytes = 16 << 10;
    options.loss = loss;
    options.lateOps = 0.2;
    options.lateBy = std::chrono::milliseconds(20);
    options.protocol.warmupOps = 1000;
    options.protocol.timeout = std::chrono::seconds(5);
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 0u)
        << ::testing::PrintToString(result.errorTexts) << options.str();
    EXPECT_EQ(result.pairsMissing, 0u);
    EXPECT_EQ(result.driftElements, 0u);
    EXPECT_GT(result.counters.get(Counter::kArenaFull), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sim, FullArena, ::testing::Values(SumOrder::kArrival, SumOrder::kRank));

// Early results that were dropped for lack of room count once if they come
// again, and as missing if not.
TEST(SimArena, EarlyResultsGivenUpForRoomAreCountedOnce) {
  for (const size_t arenaKb : {16, 64}) {
    SimOptions options = bounded(3);
    options.threads = 2;
    options.arenaBytes = arenaKb << 10;
    options.lateOps = 0.3;
    options.lateBy = std::chrono::milliseconds(10);
    const SimResult result = runChecked(options);
    EXPECT_GT(result.counters.get(Counter::kDroppedEarly), 0u);
  }
}

// The arena first refuses a contribution, then takes it. In the end it drops
// it, because fewer ranks contributed in this form.
TEST(SimArena, ContributionsRefusedAndTakenAreOneOfTheTwo) {
  SimOptions options;
  options.seed = 400000167;
  options.threads = 4;
  options.ops = 16;
  options.elementsMax = 14215;
  options.arenaBytes = 64 << 10;
  options.protocol.repair = RepairPolicy::kBoth;
  options.protocol.order = SumOrder::kRank;
  options.protocol.auth = AuthMode::kFull;
  options.protocol.hadamard = Hadamard::kAlways;
  options.protocol.multicast = true;
  options.protocol.warmupOps = 4;
  options.protocol.zeroLoss = 0;
  options.protocol.leadOps = 3;
  options.protocol.timeout = std::chrono::seconds(5);
  options.roughInputs = true;
  options.mixedForms = true;
  options.loss = 0.01;
  options.delay = std::chrono::microseconds(130);
  options.bytesPerSecond = 6.25e7;
  options.queueBytes = 64 << 10;
  options.burstEvery = std::chrono::milliseconds(82);
  options.burstLeast = std::chrono::microseconds(8200);
  options.burstMost = std::chrono::microseconds(24600);
  options.burstShare = 0.5;
  options.lateOps = 0.1;
  options.lateBy = std::chrono::milliseconds(159);
  options.opposite = true;
  options.slow = 1;
  options.slowBy = std::chrono::microseconds(257);
  runChecked(options);
}

// An arena with room for the shards of two ops. While one rank is late, the
// others continue until the arena is full. Then they wait for that rank.
SimOptions roomForTwoShards() {
  SimOptions options = bounded(20);
  options.arenaBytes = 1 << 20;
  options.elementsMax = 400000;
  options.oneShape = true;  // 1.6 MB, shards of 400 kB
  options.windowBytes = 64 << 10;
  options.ops = 20;
  options.protocol.haltLoss = 0;
  return options;
}

TEST(SimArena, AnOwnerKeepsEveryShardThatALateRankLacks) {
  SimOptions options = roomForTwoShards();
  options.lateRank = 2;
  options.lateOps = 0.3;
  options.lateBy = std::chrono::milliseconds(300);
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.counters.get(Counter::kNotRetained), 0u);
  EXPECT_EQ(result.driftElements, 0u);
  EXPECT_GT(result.pairsMissing, 0u);
  EXPECT_EQ(result.errors, 0u) << ::testing::PrintToString(result.errorTexts);
}

// An op that only its early rank has begun makes way for others, and with it
// the news that this rank has entered. A late rank begins the op anew, and
// learns that from the early rank's questions.
TEST(SimArena, AnEarlyRankWhoseOpMadeWayIsNotWaitedFor) {
  for (const uint64_t seed : {10401055, 1, 2, 3}) {
    SimOptions options;
    options.seed = seed;
    options.ranks = 2;
    options.threads = 3;
    options.arenaBytes = 64 << 10;
    options.protocol.repair = RepairPolicy::kNone;
    options.protocol.warmupOps = 0;
    options.lateOps = 0.1;
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 0u);
    EXPECT_GT(result.counters.get(Counter::kEvictedOps), 0u);
  }
}

// Ranks without repair keep only the slots that they have room for. A late rank
// with repair asks for the rest. All calls then fail at once, not at the
// timeout.
TEST(SimArena, ARankThatKeptNoResultsSaysSoWhenAsked) {
  SimOptions options = roomForTwoShards();
  options.arenaBytes = 1000 << 10;
  options.lateRank = 2;
  options.lateOps = 0.3;
  options.lateBy = std::chrono::milliseconds(300);
  options.faults.unlike.policyRanks = 0xb;  // all but rank 2
  options.faults.unlike.repair = RepairPolicy::kNone;
  options.faults.unlike.warmupOps = 0;
  const SimResult result = runChecked(options);
  EXPECT_GT(result.counters.get(Counter::kNotRetained), 0u);
  EXPECT_THAT(result.errorTexts,
              ::testing::Contains(::testing::AllOf(
                  ::testing::HasSubstr("had no room to keep results"),
                  ::testing::HasSubstr("rank 2 still lacks"))));
  for (const std::string& text : result.errorTexts) {
    EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("timed out")));
  }
}

TEST(SimArena, ARankThatNeverEntersUsesUpTheArena) {
  SimOptions options = roomForTwoShards();
  options.neverEnters = 2;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.returns, 3u * 2);
  EXPECT_EQ(result.errors, 3u);
  EXPECT_THAT(
      result.errorTexts,
      ::testing::Contains(::testing::HasSubstr("GLOO_UBT_ARENA_BYTES")));
  for (const std::string& text : result.errorTexts) {
    EXPECT_THAT(text, ::testing::HasSubstr("rank 2"));
  }
}

}  // namespace
}  // namespace ubt::sim
