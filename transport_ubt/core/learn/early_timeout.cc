// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/early_timeout.h"

#include <algorithm>
#include <utility>

#include "transport_ubt/core/base/percentile.h"

namespace ubt {

void EarlyTimeout::sample(int rank, Duration took) {
  samples_[rank] = took;
}

void EarlyTimeout::returned() {
  std::vector<Duration> known;
  for (const Duration sample : samples_) {
    if (sample > Duration{0}) {
      known.push_back(sample);
    }
  }
  if (!known.empty()) {
    const Duration median = percentile(std::move(known), 0.5);
    stage_ = stage_ == Duration{0}
                 ? median
                 : wholeNanoseconds(stage_ * kInertia) +
                       wholeNanoseconds(median * (1 - kInertia));
  }
}

void EarlyTimeout::done(double lateShare) {
  if (!learns_) {
    return;
  }
  if (lateShare > kLateShareHigh) {
    share_ = std::min(kShareMax, 2 * share_);
  } else if (lateShare < kLateShareLow) {
    share_ = std::max(kShareMin, share_ - 0.01);
  }
}

Duration EarlyTimeout::patience() const {
  return wholeNanoseconds(stage_ * share_);
}

}  // namespace ubt
