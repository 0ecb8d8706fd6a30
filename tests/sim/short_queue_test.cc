// SPDX-License-Identifier: Apache-2.0
//
// 64 ranks on links of 10 Gbit/s. A queue holds a slot or two of each of 63
// senders, or less. Each has little credit then, but the link stays busy.

#include <cstdint>

#include "tests/sim/run_checked.h"
#include "transport_ubt/core/base/percentile.h"

namespace ubt::sim {
namespace {

using std::chrono::microseconds;

constexpr int kWarmupOps = 8;

SimOptions job(int ops, uint64_t queueBytes) {
  SimOptions options;
  options.ranks = 64;
  options.ops = kWarmupOps + ops;
  options.oneShape = true;
  options.elementsMax = 1000000;
  options.noData = true;
  options.checkResults = false;
  options.slotBytes = 1408;
  options.trainBytes = 64256;
  options.windowBytes = 16 << 20;
  options.windowBytesMin = 16 << 10;
  options.queueBytes = queueBytes;
  options.delay = microseconds(50);
  options.wakesEvery = microseconds(20);
  options.lateness = microseconds(100);
  options.arenaBytes = 1 << 30;
  options.protocol.warmupOps = kWarmupOps;
  options.protocol.hadamard = Hadamard::kNever;
  options.protocol.timeout = std::chrono::seconds(20);
  return options;
}

// The median time of the last 8 ops.
Duration median(int ops, uint64_t queueBytes) {
  const SimResult result = runChecked(job(ops, queueBytes));
  EXPECT_EQ(result.errors, 0u);
  EXPECT_EQ(result.opTimes.size(), static_cast<size_t>(ops));
  return percentile({result.opTimes.end() - 8, result.opTimes.end()}, 0.5);
}

// The window takes some 20 ops to find its size, or 40.
TEST(ShortQueue, CostsLittleWithManySenders) {
  const Duration longQueue = median(8, 16 << 20);
  EXPECT_LT(median(24, 128 << 10), longQueue * 13 / 10);
  EXPECT_LT(median(40, 64 << 10), longQueue * 15 / 10);
}

}  // namespace
}  // namespace ubt::sim
