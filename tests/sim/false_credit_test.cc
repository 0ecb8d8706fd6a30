// SPDX-License-Identifier: Apache-2.0
//
// Ranks that break the rules of credit, credit that is forged or comes again, a
// path that turns narrow, and one that marks data without a cause.

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "tests/sim/run_checked.h"
#include "transport_ubt/core/base/percentile.h"

namespace ubt::sim {
namespace {

using std::chrono::milliseconds;

SimOptions job() {
  SimOptions options;
  options.ranks = 4;
  options.ops = 60;
  options.oneShape = true;
  options.elementsMax = 200000;
  options.protocol.timeout = std::chrono::seconds(2);
  return options;
}

// Every call that fails has an error that names the rank, or ends the calls of
// ranks that are told so. runChecked() judges both, and the times.
void expectErrorsThatName(const SimResult& result, int rank) {
  EXPECT_EQ(result.errors, 4u);
  for (const std::string& text : result.errorTexts) {
    EXPECT_THAT(text, ::testing::HasSubstr("rank " + std::to_string(rank)));
  }
}

// It gets no results. If its own call times out first, it names the others.
// They hear why, and name it.
TEST(FalseCredit, ARankThatGivesNoneEndsTheJobAtItsTimeout) {
  SimOptions options = job();
  options.faults.falseCredit = {2, -1, milliseconds(10)};
  const SimResult result = runChecked(options);
  EXPECT_GT(result.faults.get(Fault::kFalseCredit), 0u);
  EXPECT_EQ(result.errors, 4u);
  EXPECT_GE(std::count_if(result.errorTexts.begin(),
                          result.errorTexts.end(),
                          [](const std::string& text) {
                            return text.find("rank 2") != std::string::npos;
                          }),
            3);
  // Questions for credit have pauses that grow.
  EXPECT_LT(result.counters.get(Counter::kSentControl), 6000u);
}

// It fills queues, and loses its own data. Results stay exact.
TEST(FalseCredit, ARankThatIgnoresItChangesNoResult) {
  SimOptions options = job();
  options.queueBytes = 32 << 10;
  options.windowBytes = 16 << 10;
  options.protocol.repair = RepairPolicy::kBoth;
  options.faults.falseCredit = {-1, 2, milliseconds(10)};
  const SimResult result = runChecked(options);
  EXPECT_GT(result.faults.get(Fault::kFalseCredit), 0u);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_EQ(result.ops, 60u);
}

TEST(FalseCredit, ARankThatIsSilentWithCreditIsNamed) {
  SimOptions options = job();
  options.faults.kindLoss.kind = KindLoss::kData;
  options.faults.kindLoss.from = 2;
  options.faults.kindLoss.share = 1;
  expectErrorsThatName(runChecked(options), 2);
}

// A forger does not know the keys, so a byte of its datagrams is wrong. The
// simulator reports each one that is taken.
TEST(FalseCredit, ForgedCreditIsRefused) {
  SimOptions options = job();
  options.protocol.repair = RepairPolicy::kBoth;
  options.faults.corruption = 0.05;
  const SimResult result = runChecked(options);
  EXPECT_GT(result.faults.get(Fault::kCorruption), 100u);
  EXPECT_GT(result.counters.get(Counter::kBadTag), 100u);
  EXPECT_EQ(result.errors, 0u);
}

// Old credit is lower, so it changes nothing.
TEST(FalseCredit, CreditThatComesAgainIsRefused) {
  SimOptions options = job();
  options.protocol.repair = RepairPolicy::kBoth;
  options.faults.replays = {0.2, milliseconds(50)};
  const SimResult result = runChecked(options);
  EXPECT_GT(result.counters.get(Counter::kReplayed), 100u);
  EXPECT_EQ(result.errors, 0u);
}

TEST(FalseCredit, LostDataIsNotRepeatedAtTheRateOfTheLink) {
  SimOptions options = job();
  options.faults.kindLoss.kind = KindLoss::kData;
  options.faults.kindLoss.share = 1;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 4u);
  const double links =
      options.ranks * options.bytesPerSecond * 2;  // in the timeout
  EXPECT_LT(static_cast<double>(result.counters.get(Counter::kSentData)) *
                options.slotBytes,
            links / 10);
}

// The path between ranks 1 and 2 turns narrow while ops run. Either end may
// give up first and name the other one.
TEST(FalseCredit, APathThatTurnsNarrowIsNamed) {
  SimOptions options = job();
  options.slotBytes = 8928;
  options.faults.narrowPath = {
      1, 2, 1500, milliseconds(10), std::chrono::seconds(100)};
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 4u);
  for (const std::string& text : result.errorTexts) {
    EXPECT_THAT(text,
                ::testing::AnyOf(::testing::HasSubstr("rank 1"),
                                 ::testing::HasSubstr("rank 2")));
  }
}

// No smaller window lessens the marks, so the window comes back.
TEST(FalseCredit, APathThatMarksAllDataCostsLittle) {
  for (const double share : {0.1, 1.0}) {
    SimOptions options = job();
    const Duration honest = percentile(runChecked(options).opTimes, 0.5);
    options.faults.marks.share = share;
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 0u);
    EXPECT_GT(result.counters.get(Counter::kCongested), 1000u);
    EXPECT_LT(percentile(result.opTimes, 0.5), honest * 11 / 10) << share;
  }
}

}  // namespace
}  // namespace ubt::sim
