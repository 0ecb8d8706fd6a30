// SPDX-License-Identifier: Apache-2.0
//
// What each control loop buys, on a simulated network.

#include "tests/sim/run_checked.h"

namespace ubt::sim {
namespace {

// Links of 500 Mbit/s that lose one datagram in a thousand, the paper's policy,
// nothing set by hand.
SimOptions lossy() {
  SimOptions options;
  options.ops = 200;
  options.elementsMax = 200000;
  options.bytesPerSecond = 6.25e7;
  options.loss = 0.001;
  options.protocol.repair = RepairPolicy::kNone;
  return options;
}

TEST(EarlyTimeout, EndsStagesThatWaitForWhatIsLost) {
  SimOptions options = lossy();
  const SimResult with = runChecked(options);
  options.protocol.early = false;
  const SimResult without = runChecked(options);
  EXPECT_GT(with.early, with.boundedOps / 2);
  EXPECT_EQ(without.early, 0u);
  EXPECT_LT(with.boundedTime / with.boundedOps,
            without.boundedTime / without.boundedOps * 9 / 10);
  // Hardly anything is lost by it.
  EXPECT_LT(with.pairsMissing, without.pairsMissing * 11 / 10);
}

TEST(SizeClasses, ASizeNotSeenYetDoesNotWarmUp) {
  SimOptions options = lossy();
  const SimResult result = runChecked(options);
  // Sizes are drawn at random: ten classes or more, of which one warms up and
  // those that come up meanwhile.
  EXPECT_GT(result.boundedOps, result.returns * 7 / 10);
}

}  // namespace
}  // namespace ubt::sim
