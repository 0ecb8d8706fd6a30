// SPDX-License-Identifier: Apache-2.0
//
// The safeguards against training on too little data.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/bounded.h"
#include "tests/sim/run_checked.h"

namespace ubt::sim {
namespace {

// Ops with bounds too short for the network's loss.
SimOptions lossy(double loss) {
  SimOptions options = bounded(5);
  options.loss = loss;
  options.ops = 60;
  return options;
}

uint64_t calls(const SimOptions& options) {
  return static_cast<uint64_t>(options.ops) * options.ranks;
}

TEST(Safeguards, AnOwnerThatLacksTooMuchSendsZerosToAll) {
  SimOptions options = lossy(0.4);
  options.protocol.zeroLoss = 0.2;
  options.protocol.haltLoss = 0;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_GT(result.zeroedElements, 0u);
}

TEST(Safeguards, NothingIsZeroedWhereLittleIsMissing) {
  SimOptions options = lossy(0.01);
  const SimResult result = runChecked(options);
  EXPECT_GT(result.pairsMissing, 0u);
  EXPECT_EQ(result.zeroedElements, 0u);
  EXPECT_EQ(result.returns, calls(options));
}

// One rank alone loses much. All ranks stop and give the reason.
TEST(Safeguards, ARankThatLacksTooMuchHaltsTheJob) {
  for (const auto repair :
       {RepairPolicy::kNone, RepairPolicy::kBroadcast, RepairPolicy::kBoth}) {
    SimOptions options = lossy(0.6);
    options.protocol.repair = repair;
    options.protocol.haltLoss = 0.2;
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, static_cast<uint64_t>(options.ranks));
    EXPECT_GT(result.returns, 0u);
    EXPECT_LT(result.returns, calls(options));
    int origins = 0;
    for (const std::string& text : result.errorTexts) {
      EXPECT_NE(text.find("halted"), std::string::npos) << text;
      origins += text.find("GLOO_UBT_HALT_LOSS") != std::string::npos;
    }
    EXPECT_GE(origins, 1);
  }
}

TEST(Safeguards, NoRankHaltsAJobThatMayNotHalt) {
  SimOptions options = lossy(0.6);
  options.protocol.haltLoss = 0;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_EQ(result.returns, calls(options));
}

// The same for a job with an ordinary loss.
TEST(Safeguards, NoRankHaltsAJobForUsualLoss) {
  SimOptions options = lossy(0.005);
  options.protocol.repair = RepairPolicy::kNone;
  const SimResult result = runChecked(options);
  EXPECT_GT(result.pairsMissing, 0u);
  EXPECT_THAT(result.errorTexts, ::testing::IsEmpty());
}

}  // namespace
}  // namespace ubt::sim
