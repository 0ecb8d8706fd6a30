// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/stage_bound.h"

#include <algorithm>

#include "transport_ubt/core/base/percentile.h"

namespace ubt {
namespace {

// Quartile distances beyond the median that are still a stage's own unrest. Of
// waits for a host, which scatter as exponential ones do, 19 in 20 stay below;
// of times on a link, which are sums of many and scatter as normal ones do, 48
// in 49.
constexpr int kHostSpreads = 6;
constexpr int kLinkSpreads = 3;
// Latenesses beyond the median: a stage has two ends.
constexpr int kLatenesses = 2;

}  // namespace

void StageBound::complete(Duration elapsed, bool warmup) {
  if (warmup && warmup_.size() < kWarmupMax) {
    warmup_.push_back(elapsed);
  }
  add({elapsed, true});
}

void StageBound::incomplete(Duration atLeast) {
  add({atLeast, false});
}

void StageBound::add(const Stage& stage) {
  recent_[stages_ % kRecent] = stage;
  stages_++;
}

Duration StageBound::bound(BoundMode mode, const Unrest& unrest) const {
  if (stages_ == 0) {
    return Duration{0};
  }
  std::vector<Duration> all;
  std::vector<Duration> complete;
  for (size_t i = 0; i < std::min(stages_, kRecent); i++) {
    all.push_back(recent_[i].took);
    if (recent_[i].complete) {
      complete.push_back(recent_[i].took);
    }
  }
  const Duration median = percentile(all, 0.5);
  const Duration spread = complete.empty()
                              ? Duration{0}
                              : std::min(median - percentile(complete, 0.25),
                                         percentile(complete, 0.75) - median);
  const Duration late = kLatenesses * unrest.lateness;
  if (mode == BoundMode::kPaper && !warmup_.empty()) {
    return std::max(percentile(warmup_, 0.95), median + late);
  }
  const int spreads = unrest.ofLinks ? kLinkSpreads : kHostSpreads;
  return median + std::max({median / 4, spreads * spread, late});
}

}  // namespace ubt
