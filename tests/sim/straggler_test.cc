// SPDX-License-Identifier: Apache-2.0
//
// Ranks that enter late.

#include "tests/sim/bounded.h"
#include "tests/sim/run_checked.h"

namespace ubt::sim {
namespace {

TEST(Stragglers, AreLeftOutAndNothingFails) {
  SimOptions options = bounded(10);
  options.lateOps = 0.1;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_GT(result.pairsMissing, 0u);
  EXPECT_EQ(result.driftElements, 0u);
}

// A rank that is always late slows the others to its pace, by their lead, and
// is in no sum. The others get the rest of each sum, and no call fails.
TEST(Stragglers, AreLeftOutAndNothingElseIfTheyAlwaysAre) {
  SimOptions options = bounded(5);
  options.ops = 100;
  options.oneShape = true;
  options.lateRank = 2;
  options.lateOps = 1;
  options.lateBy = std::chrono::milliseconds(50);
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_EQ(result.driftElements, 0u);
  EXPECT_EQ(result.returns, static_cast<uint64_t>(options.ops * options.ranks));
  const uint64_t contribution = result.returns * options.elementsMax;
  EXPECT_GT(result.pairsMissing, contribution / 2);
  EXPECT_LE(result.pairsMissing, contribution);
}

// Two of three ranks enter 10 ms late, in turns. That is longer than both
// stages may take. A single early rank must not start the clock.
TEST(Stragglers, AnEarlyRankLeavesNoRankOut) {
  for (const RepairPolicy repair :
       {RepairPolicy::kNone, RepairPolicy::kBroadcast}) {
    for (const int ranks : {2, 3, 8}) {
      SimOptions options = bounded(3);
      options.ranks = ranks;
      options.ops = 100;
      options.protocol.repair = repair;
      options.lateOps = 0.7;
      options.lateBy = std::chrono::milliseconds(10);
      const SimResult result = runChecked(options);
      EXPECT_EQ(result.errors, 0u);
      // Each sum lacks at most a minority; the checker checks that.
      EXPECT_EQ(result.pairsMissing > 0, ranks > 2);
      EXPECT_EQ(result.driftElements, 0u);
    }
  }
}

// The dead rank's connections stay open, as if a forked child of it lived on.
TEST(Stragglers, ARankThatAnswersNothingIsNamedAfterTenSeconds) {
  for (const uint32_t warmupOps : {0, 1000}) {
    SimOptions options = bounded(10);
    options.protocol.warmupOps = warmupOps;
    options.protocol.timeout = std::chrono::minutes(10);
    options.ops = 100;
    options.crashes = 2;
    options.crashAt = std::chrono::milliseconds(20);
    options.crashSeenAfter = std::chrono::hours(1);
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 3u);
    // Nobody had to wait for a timeout.
    for (const std::string& text : result.errorTexts) {
      EXPECT_TRUE(text.find("rank 2 has not answered for 10 s") == 0 ||
                  text.find("has given up because of rank 2") == 7)
          << text;
    }
  }
}

// The rank's host stands still in the middle of an op. Some ranks already have
// all of the data that it owes them. They lack only results of owners that wait
// for it, and those owners are not at fault.
TEST(Stragglers, ARankThatStandsStillIsNamedByThoseThatItOwesNothing) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    SimOptions options;
    options.seed = seed;
    options.elementsMax = 2000;
    options.oneShape = true;
    options.loss = 0.05;
    options.protocol.timeout = std::chrono::seconds(5);
    options.protocol.warmupOps = 1000;
    options.faults.pauses[0].rank = 3;
    options.faults.pauses[0].at = std::chrono::microseconds(10000 + 37 * seed);
    options.faults.pauses[0].lasting = std::chrono::seconds(8);
    const SimResult result = runChecked(options);
    EXPECT_GE(result.errors, 3u);
    for (const std::string& text : result.errorTexts) {
      EXPECT_NE(text.find("rank 3"), std::string::npos)
          << text << "\n  " << options.str();
    }
  }
}

// Ranks with an exact op wait for the one that never enters. A rank with a
// bounded op needs nothing from that one, but waits for the exact ones.
TEST(Stragglers, ARankThatNeverEntersIsNamedWhereNothingIsNeededOfIt) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    SimOptions options = bounded(10);
    options.seed = seed;
    options.neverEnters = 2;
    options.protocol.skipLoss = 0.5;
    options.faults.unlike.policyRanks = 0b0011;
    options.faults.unlike.warmupOps = 1000;
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 3u);
    for (const std::string& text : result.errorTexts) {
      EXPECT_NE(text.find("rank 2"), std::string::npos) << text;
    }
  }
}

// Packets of rank 5 do not reach rank 0 for a while. Rank 5 gets rank 0's
// results meanwhile, so it no longer announces itself. But it has entered: only
// rank 7, which skips the op, never does.
TEST(Stragglers, ARankWhoseAnnouncementIsLostStillCountsAsEntered) {
  const SimResult result = runChecked(SimOptions::parse(
      "seed=1000752 ranks=8 threads=2 ops=11 elements_max=3917 "
      "order=1 hadamard=1 multicast=1 mixed_forms=1 "
      "warmup_ops=4 skip_loss=0.001 halt_loss=0 timeout_ns=20000000000 "
      "rough_inputs=1 loss=0.050000000000000003 duplicate=0.02 "
      "reorder_by_ns=172000 delay_ns=102000 bytes_per_second=62500000 "
      "queue_bytes=65536 burst_every_ns=28000000 burst_least_ns=2800000 "
      "burst_most_ns=11200000 burst_sources=2 "
      "burst_share=0.40000000000000002 late_ops=0.10000000000000001 "
      "late_by_ns=44000000 cut0_from=5 cut0_to=0 cut0_at_ns=81000000 "
      "cut0_lasting_ns=252000000 cut1_from=4 cut1_to=2 cut1_at_ns=80000000 "
      "cut1_lasting_ns=382000000 skip_rank=7 skip_op=2 "
      "unlike_window_ranks=211 unlike_window_bytes=1048576 "
      "unlike_link_ranks=164 unlike_policy_ranks=197 "
      "unlike_warmup_ops=2 unlike_lead_ops=7"));
  EXPECT_GT(result.errors, 0u);
  for (const std::string& text : result.errorTexts) {
    if (text.find("rank 7 has not entered") != std::string::npos) {
      EXPECT_EQ(text.find("rank 5 has not entered"), std::string::npos) << text;
    }
  }
}

// Ranks 0, 4 and 6 have no warm-up. A late rank made a small op take long, so
// the usual time of a large one is guessed to be as long as the timeout. Rank 6
// lacks the last slot of rank 1, and still asks for it in time.
TEST(Stragglers, WrongUsualTimesDelayNoQuestion) {
  const SimResult result = runChecked(SimOptions::parse(
      "seed=11001013 ranks=8 elements_max=1484 slot_bytes=512 "
      "window_bytes=16384 auth=2 cut_budget=0 warmup_ops=0 lead_ops=1 "
      "timeout_ns=5000000000 loss=0.050000000000000003 delay_ns=27000 "
      "late_ops=0.10000000000000001 late_by_ns=223000000 cut0_from=1 "
      "cut0_to=3 cut0_at_ns=98000000 cut0_lasting_ns=91000000 "
      "corruption=0.01 send_fails=0.01 send_later_ns=683000 "
      "per_datagram_ns=7000 clock_offset_ns=7200000000000 clock_rate=0.0001 "
      "clock_slew=0.00050000000000000001 clock_slew_every_ns=506000000 "
      "unlike_link_ranks=121 unlike_policy_ranks=174"));
  EXPECT_EQ(result.errors, 0u);
}

// A late caller is a straggler if its host's engine answers.
TEST(Stragglers, ALateCallerIsNotTakenForDead) {
  SimOptions options = bounded(10);
  options.protocol.timeout = std::chrono::minutes(10);
  options.ops = 20;
  options.lateRank = 2;
  options.lateOps = 0.3;
  options.lateBy = std::chrono::minutes(1);
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u) << ::testing::PrintToString(result.errorTexts);
  EXPECT_EQ(result.ops, 20u);
}

}  // namespace
}  // namespace ubt::sim
