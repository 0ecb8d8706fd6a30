// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/idle_policy.h"

#include <algorithm>

namespace ubt {
namespace {

constexpr int kYieldingRanksPerCpuMax = 2;

}  // namespace

IdlePolicy IdlePolicy::forHost(const IdlePolicy& configured,
                               int ranks,
                               int cpus) {
  const int count = std::max(1, cpus);
  const int ranksPerCpu = (ranks + count - 1) / count;
  return ranksPerCpu <= kYieldingRanksPerCpuMax
             ? IdlePolicy{configured.yield, Duration{0}}
             : IdlePolicy{Duration{0}, ranksPerCpu * configured.nap};
}

}  // namespace ubt
