// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/sim/bounded.h"
#include "tests/sim/run_checked.h"
#include "transport_ubt/sim/causes.h"

namespace ubt::sim {
namespace {

TEST(Sim, ZeroLossIsExactEverywhere) {
  for (int ranks : {2, 3, 4, 8, 16}) {
    SimOptions options = bounded(100);
    options.ranks = ranks;
    options.elementsMax = 20000;
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.ops, static_cast<uint64_t>(options.ops));
    EXPECT_EQ(result.returns, result.ops * ranks);
    EXPECT_EQ(result.boundedOps, result.returns);
    EXPECT_EQ(result.pairsMissing, 0u);
    EXPECT_EQ(result.driftElements, 0u);
    EXPECT_EQ(result.errors, 0u);
  }
}

TEST(Sim, NothingIsLostAtARankThatJoinsLate) {
  SimOptions options = bounded(100);
  options.deafFor = std::chrono::milliseconds(30);
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_EQ(result.pairsMissing, 0u);
}

// If the seed is odd, headers do not tell contexts apart (world.cc).
TEST(Sim, ContextsShareASocket) {
  for (const uint64_t seed : {1, 2, 3}) {
    SimOptions options = bounded(100);
    options.seed = seed;
    options.contexts = 3;
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 0u);
    EXPECT_EQ(result.pairsMissing, 0u);
  }
}

TEST(Sim, WarmupIsExactUnderLoss) {
  SimOptions options;
  options.loss = 0.05;
  options.protocol.warmupOps = 1000;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_EQ(result.boundedOps, 0u);
  EXPECT_EQ(result.pairsMissing, 0u);
  EXPECT_GT(result.repairedBytes, 0u);
}

// Order ----------------------------------------------------------------------

// The hash of results for the same inputs on a network that reorders datagrams.
uint64_t bitsOf(SimOptions options, SumOrder order, uint64_t timingSeed) {
  options.roughInputs = true;
  options.reorder = 0.5;
  options.protocol.order = order;
  options.timingSeed = timingSeed;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_EQ(result.pairsMissing, 0u);
  return result.resultBits;
}

// Rank order gives the same bits in every run; order of arrival does not.
void expectOrderMatters(const SimOptions& options) {
  const uint64_t byRank = bitsOf(options, SumOrder::kRank, 1);
  const uint64_t onArrival = bitsOf(options, SumOrder::kArrival, 1);
  for (const uint64_t timingSeed : {2, 3}) {
    EXPECT_EQ(bitsOf(options, SumOrder::kRank, timingSeed), byRank);
    EXPECT_NE(bitsOf(options, SumOrder::kArrival, timingSeed), onArrival);
  }
}

TEST(SimOrder, ByRankRunsAreTheSameBitForBit) {
  SimOptions options = bounded(100);
  options.ops = 10;
  expectOrderMatters(options);
}

TEST(SimOrder, LateCallersChangeNothing) {
  SimOptions options = bounded(100);
  options.ops = 10;
  options.ranks = 5;
  options.lateOps = 0.3;
  options.lateBy = std::chrono::milliseconds(5);
  expectOrderMatters(options);
}

TEST(SimOrder, RepairedLossesChangeNothingWhileWarmingUp) {
  SimOptions options;
  options.ops = 10;
  options.loss = 0.05;
  options.protocol.warmupOps = 1000;
  expectOrderMatters(options);
}

// Stages and repair ----------------------------------------------------------

TEST(Sim, BroadcastRepairLeavesNoDrift) {
  SimOptions options = bounded(20);
  options.loss = 0.01;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_EQ(result.driftElements, 0u);
  EXPECT_GT(result.pairsMissing, 0u);
}

// Bounds end before most results have come, and yet the calls go on.
TEST(Sim, HeavyLossNeverMakesReplicasDiffer) {
  for (const int groups : {1, 2}) {
    for (const RepairPolicy repair :
         {RepairPolicy::kBroadcast, RepairPolicy::kBoth}) {
      SimOptions options = bounded(2);
      options.groups = groups;
      options.loss = 0.3;
      options.protocol.repair = repair;
      options.protocol.haltLoss = 0;
      const SimResult result = runChecked(options);
      EXPECT_EQ(result.errors, 0u)
          << ::testing::PrintToString(result.errorTexts);
      EXPECT_EQ(result.driftElements, 0u);
    }
  }
}

// This holds for every policy, even if loss keeps results from coming in time.
TEST(Sim, NoRankSkipsAlone) {
  for (const auto repair :
       {RepairPolicy::kNone, RepairPolicy::kBroadcast, RepairPolicy::kBoth}) {
    SimOptions options = bounded(5);
    options.loss = 0.05;
    options.lateOps = 0.1;
    options.protocol.repair = repair;
    options.protocol.skipLoss = 0.06;
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 0u);
    EXPECT_GT(result.skipped, 0u);
    EXPECT_LT(result.skipped, result.returns);
    EXPECT_EQ(result.skipped % options.ranks, 0u);
    EXPECT_EQ(result.driftElements, 0u);
  }
}

TEST(Sim, BothRepairsLeaveNothingOut) {
  SimOptions options = bounded(50);
  options.loss = 0.01;
  options.protocol.repair = RepairPolicy::kBoth;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.pairsMissing, 0u);
}

TEST(Sim, EveryPacketLostIsAnErrorByTheTimeout) {
  for (const auto repair : {RepairPolicy::kNone, RepairPolicy::kBroadcast}) {
    for (const uint32_t warmupOps : {0, 20}) {
      SimOptions options = bounded(10);
      options.protocol.repair = repair;
      options.protocol.warmupOps = warmupOps;
      options.loss = 1;
      const SimResult result = runChecked(options);
      EXPECT_EQ(result.ops, 0u);
      EXPECT_EQ(result.errors, 4u);
    }
  }
}

TEST(Sim, ARankThatDiesIsNamedByAllOthers) {
  SimOptions options = bounded(10);
  options.ops = 200;
  options.crashes = 2;
  options.crashAt = std::chrono::milliseconds(20);
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 3u);
  for (const std::string& text : result.errorTexts) {
    EXPECT_EQ(text, "rank 2 died");
  }
}

TEST(Sim, ARankThatNeverEntersUsesUpTheLead) {
  SimOptions options = bounded(10);
  options.neverEnters = 1;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.returns, 3u * options.protocol.leadOps);
  EXPECT_EQ(result.errors, 3u);
}

TEST(Sim, TheSameTagOfClassAndOptionsFormIsTwoOps) {
  SimOptions options = bounded(100);
  options.threads = 4;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_EQ(result.pairsMissing, 0u);
}

// Threads bring different tags. So each rank may be ahead in ops that the other
// has not begun, and must be able to begin those without using the lead.
TEST(Sim, OppositeOrdersOfTagsHoldNobodyUp) {
  for (const int ranks : {2, 5}) {
    SimOptions options = bounded(10);
    options.ranks = ranks;
    options.threads = 8;
    options.ops = 10;
    options.opposite = true;
    options.lateBy = std::chrono::milliseconds(50);
    options.protocol.leadOps = 2;
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 0u) << ::testing::PrintToString(result.errorTexts);
  }
}

// A rank that gets an error ends its context, as programs do. The others may
// hear that before they hear the cause. They must still name the cause.

void expectAllName(const SimOptions& options, const std::string& culprit) {
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, static_cast<uint64_t>(options.ranks - 1));
  for (const std::string& text : result.errorTexts) {
    EXPECT_NE(text.find(culprit), std::string::npos) << text;
  }
}

TEST(Sim, ErrorsThatFollowACrashNameTheCrashedRank) {
  for (const int spreadMs : {0, 1, 40}) {
    SimOptions options = bounded(10);
    options.ops = 200;
    options.lateOps = 0.05;
    options.crashes = 2;
    options.crashAt = std::chrono::milliseconds(20);
    options.crashSeenSpread = std::chrono::milliseconds(spreadMs);
    options.errorEnds = true;
    expectAllName(options, "rank 2");
  }
}

// One thread of a rank hears that another rank has died and tells all ranks.
// These then accept nothing more from its rank. So the calls of its other
// threads end, too, even if the dead rank owes them nothing.
TEST(Sim, EveryThreadOfARankThatLeavesNamesTheCrashedRank) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    SimOptions options = bounded(10);
    options.seed = seed;
    options.threads = 4;
    options.bytesPerSecond = 6.25e7;
    options.crashes = 3;
    options.crashAt = std::chrono::milliseconds(10 + seed);
    options.crashSeenSpread = std::chrono::milliseconds(2);
    const SimResult result = runChecked(options);
    for (const std::string& text : result.errorTexts) {
      EXPECT_TRUE(text == "rank 3 died" ||
                  text.find("because of rank 3") != std::string::npos)
          << text << "\n  " << options.str();
    }
  }
}

TEST(Sim, ErrorsThatFollowALaggardNameIt) {
  for (const uint32_t warmupOps : {0, 20}) {
    SimOptions options = bounded(10);
    options.protocol.warmupOps = warmupOps;
    options.neverEnters = 1;
    options.lateOps = 0.2;
    options.errorEnds = true;
    expectAllName(options, "rank 1");
  }
}

TEST(Sim, RanksThatDisagreeAreNamedEverywhere) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    SimOptions options = bounded(10);
    options.seed = seed;
    options.loss = seed % 2 == 0 ? 0.05 : 0;
    options.errorEnds = seed % 4 < 2;  // otherwise its context goes on
    options.lateOps = 0.3;
    options.lateBy = std::chrono::milliseconds(5);
    options.disagrees = 2;
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 4u);
    for (const std::string& text : result.errorTexts) {
      // If the rank's announcement got lost, at least the rank is known.
      const char* const known = options.loss > 0 ? "rank 2" : "rank 2 brings";
      EXPECT_NE(text.find(known), std::string::npos)
          << text << "\n  " << options.str();
    }
  }
}

TEST(Sim, RanksThatDisagreeOnSealingAreNamedEverywhere) {
  for (const AuthMode auth :
       {AuthMode::kHeader, AuthMode::kFull, AuthMode::kAead}) {
    SimOptions options = bounded(10);
    options.protocol.auth = auth;
    options.otherwise = 2;
    options.lateOps = 0.3;
    options.lateBy = std::chrono::milliseconds(5);
    options.errorEnds = true;
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.ops, 0u);
    EXPECT_EQ(result.errors, 4u);
    for (const std::string& text : result.errorTexts) {
      EXPECT_NE(text.find("rank 2 brings"), std::string::npos) << text;
    }
  }
}

// A rank may hear first from the one that disagrees. The other ranks then
// differ from that one, but they are not at fault.
TEST(Sim, TheOddRankIsToBlameThoughItIsHeardFirst) {
  for (uint64_t seed = 1; seed <= 400; seed++) {
    SimOptions options = bounded(10);
    options.seed = seed;
    options.ranks = 8;
    options.elementsMax = 500;
    options.disagrees = 5;
    options.deafFor = std::chrono::microseconds(200 * (seed % 200));
    options.lateOps = 0.5;
    options.lateBy = std::chrono::milliseconds(seed % 5 * 60);
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 8u);
    for (const std::string& text : result.errorTexts) {
      EXPECT_NE(text.find("rank 5"), std::string::npos)
          << text << "\n  " << options.str();
    }
  }
}

TEST(Sim, SealedDatagramsCarryEverything) {
  SimOptions options = bounded(50);
  options.protocol.auth = AuthMode::kAead;
  options.protocol.repair = RepairPolicy::kBoth;
  options.loss = 0.01;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_EQ(result.pairsMissing, 0u);
}

// Bounds may be longer than the timeout, such as those learned under heavy
// loss.
TEST(Sim, ACallEndsByItsTimeoutWhateverItsBounds) {
  for (const double loss : {0.3, 1.0}) {
    SimOptions options = bounded(2000);
    options.loss = loss;
    options.ops = 3;
    options.protocol.timeout = std::chrono::seconds(1);
    options.errorEnds = true;
    runChecked(options);
  }
}

TEST(Sim, TheSameSeedGivesTheSameRun) {
  const SimOptions options = SimOptions::fromSeed(7);
  const SimResult one = World(options).run();
  const SimResult two = World(options).run();
  EXPECT_EQ(one.ops, two.ops);
  EXPECT_EQ(one.pairsMissing, two.pairsMissing);
  EXPECT_EQ(one.counters.get(Counter::kSentData),
            two.counters.get(Counter::kSentData));
}

TEST(Sim, TracesTellTheTimesOfACall) {
  SimOptions options = bounded(50);
  options.protocol.trace = true;
  options.oneShape = true;  // others may have empty shards
  const SimResult result = runChecked(options);
  ASSERT_EQ(result.traces.size(), result.returns);
  for (const SimResult::Trace& trace : result.traces) {
    const OpTrace& times = *trace.arrivals;
    EXPECT_LE(times.calledAt, times.closedAt);
    EXPECT_LE(times.closedAt, times.returnedAt);
    EXPECT_EQ(times.results[trace.rank], kNever);
    for (int rank = 0; rank < options.ranks; rank++) {
      if (rank != trace.rank) {
        EXPECT_GE(times.results[rank], times.calledAt) << rank;
        EXPECT_LE(times.results[rank], times.returnedAt) << rank;
      }
    }
  }
}

TEST(SimOptionsText, HoldsEveryMember) {
  for (uint64_t seed = 1; seed <= 100; seed++) {
    const std::string text = SimOptions::fromSeed(seed).str();
    EXPECT_EQ(SimOptions::parse(text).str(), text);
  }
  EXPECT_THROW(SimOptions::parse("ranks"), std::invalid_argument);
  EXPECT_THROW(SimOptions::parse("ranks=x"), std::invalid_argument);
  EXPECT_THROW(SimOptions::parse("rank=2"), std::invalid_argument);
  EXPECT_THROW(SimOptions::parse("queue_bytes=128KiB"), std::invalid_argument);
  EXPECT_THROW(SimOptions::parse("queue_bytes=-1"), std::invalid_argument);
  EXPECT_THROW(SimOptions::parse("delay_ns=1.5"), std::invalid_argument);
}

// Random options from consecutive seeds, until enough ops were checked. Every
// fault must happen in one of them.
TEST(Sim, TwentyThousandOpsUnderRandomFaults) {
  uint64_t ops = 0;
  int seeds = 0;
  int mayFail = 0;
  FaultCounts faults;
  for (uint64_t seed = 1; ops < 20000 && !HasFailure(); seed++) {
    const SimOptions options = SimOptions::fromSeed(seed);
    const SimResult result = runChecked(options);
    ops += result.ops;
    seeds++;
    mayFail += Causes(options).any();
    faults.add(result.faults);
  }
  EXPECT_GE(ops, 20000u);
  EXPECT_LT(2 * mayFail, seeds);
  for (size_t i = 0; i < static_cast<size_t>(Fault::kFaults); i++) {
    const auto fault = static_cast<Fault>(i);
    if (fault == Fault::kWrongResult || fault == Fault::kFalseCredit ||
        fault == Fault::kMarks) {
      continue;  // These have tests of their own.
    }
    EXPECT_GT(faults.get(fault), 0u) << faultName(fault);
  }
}

}  // namespace
}  // namespace ubt::sim
