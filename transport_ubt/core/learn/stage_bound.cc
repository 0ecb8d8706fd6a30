// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/stage_bound.h"

#include <algorithm>

#include "transport_ubt/core/base/percentile.h"

namespace ubt {
namespace {

// How many quartile distances above the median still count as normal. Waits for
// a host have an exponential distribution: 19 in 20 are below. Times on a link
// are sums of many, with a normal distribution: 48 in 49 are below.
constexpr int kHostSpreads = 6;
constexpr int kLinkSpreads = 3;
// How many latenesses to add to the median. A stage has two ends.
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
