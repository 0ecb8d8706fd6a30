// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/early_timeout.h"

#include <algorithm>

namespace ubt {
namespace {

Duration times(Duration duration, double factor) {
  return Duration{static_cast<Duration::rep>(
      static_cast<double>(duration.count()) * factor)};
}

}  // namespace

void EarlyTimeout::sample(int rank, Duration took) {
  samples_[rank] = took;
}

void EarlyTimeout::returned(double loss) {
  std::vector<Duration> known;
  for (const Duration sample : samples_) {
    if (sample > Duration{0}) {
      known.push_back(sample);
    }
  }
  if (!known.empty()) {
    const auto middle = known.begin() + known.size() / 2;
    std::nth_element(known.begin(), middle, known.end());
    stage_ = stage_ == Duration{0}
                 ? *middle
                 : times(stage_, kInertia) + times(*middle, 1 - kInertia);
  }
  if (loss > kLossHigh) {
    share_ = std::min(kShareMax, 2 * share_);
  } else if (loss < kLossLow) {
    share_ = std::max(kShareMin, share_ - 0.01);
  }
}

Duration EarlyTimeout::patience() const {
  return times(stage_, share_);
}

}  // namespace ubt
