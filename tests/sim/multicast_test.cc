// SPDX-License-Identifier: Apache-2.0
//
// Results by multicast: it may reach all ranks, some, or none.

#include <algorithm>

#include "tests/sim/bounded.h"
#include "tests/sim/run_checked.h"

namespace ubt::sim {
namespace {

SimOptions eightRanks() {
  SimOptions options = bounded(100);
  options.ranks = 8;
  options.ops = 20;
  options.elementsMax = 100000;
  options.protocol.multicast = true;
  return options;
}

// The maximum of the bytes that a rank sends, relative to unicast only.
double shareOfUnicast(SimOptions options) {
  const auto most = [](const SimResult& result) {
    EXPECT_EQ(result.errors, 0u);
    return *std::max_element(result.sentBytes.begin(), result.sentBytes.end());
  };
  const double with = most(runChecked(options));
  options.protocol.multicast = false;
  return with / most(runChecked(options));
}

TEST(Multicast, SavesAnOwnerMostOfItsBroadcast) {
  SimOptions options = eightRanks();
  for (const AuthMode auth :
       {AuthMode::kHeader, AuthMode::kFull, AuthMode::kAead}) {
    options.protocol.auth = auth;
    const SimResult result = runChecked(options);
    EXPECT_EQ(result.errors, 0u);
    EXPECT_EQ(result.pairsMissing, 0u);
    EXPECT_EQ(result.driftElements, 0u);
    EXPECT_EQ(result.repairedBytes, 0u);
    EXPECT_GT(result.counters.get(Counter::kSentMulticast), 0u);
  }
  EXPECT_LE(shareOfUnicast(options), 0.6);
}

TEST(Multicast, LeavesOutThoseThatHearNothing) {
  SimOptions options = eightRanks();
  options.deafRanks = 0xf0;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_EQ(result.pairsMissing, 0u);
  EXPECT_EQ(result.repairedBytes, 0u);
  EXPECT_GT(result.counters.get(Counter::kSentMulticast), 0u);
  // An owner that hears multicast saves two of fourteen parts, any other owner
  // three.
  EXPECT_LE(shareOfUnicast(options), 0.9);
}

TEST(Multicast, IsNotUsedIfNoRankHears) {
  SimOptions options = eightRanks();
  options.deafRanks = 0xff;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.pairsMissing, 0u);
  EXPECT_EQ(result.counters.get(Counter::kSentMulticast), 0u);
  EXPECT_LE(shareOfUnicast(options), 1.01);
}

TEST(Multicast, ComesBackAfterARankWasDeaf) {
  SimOptions options = eightRanks();
  options.ops = 300;
  options.elementsMax = 8000;
  options.deafRanks = 0xff;
  options.deafAt = std::chrono::milliseconds(300);
  options.deafTime = std::chrono::milliseconds(300);
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_EQ(result.pairsMissing, 0u);
  EXPECT_EQ(result.driftElements, 0u);
  EXPECT_LE(shareOfUnicast(options), 0.8);
}

TEST(Multicast, LossIsRepairedOneByOne) {
  SimOptions options = eightRanks();
  options.loss = 0.01;
  options.protocol.repair = RepairPolicy::kBoth;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_EQ(result.driftElements, 0u);
  EXPECT_GT(result.repairedBytes, 0u);
  EXPECT_LE(shareOfUnicast(options), 0.65);
}

}  // namespace
}  // namespace ubt::sim
