// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/pacing/timer_lateness.h"

#include <algorithm>
#include <cmath>

namespace ubt {

void TimerLateness::sample(TimePoint now, Duration late) {
  late = std::min(late, kMost);
  if (at_ == TimePoint{} || late >= worst(now)) {
    worst_ = std::max(late, worst(now));
    at_ = now;
    askedAt_ = kNever;
  }
}

Duration TimerLateness::worst(TimePoint now) const {
  if (at_ == TimePoint{}) {
    return worst_;
  }
  if (now == askedAt_) {
    return answer_;
  }
  const double halvings = std::chrono::duration<double>(now - at_) /
                          std::chrono::duration<double>(kHalfLife);
  answer_ = wholeNanoseconds(worst_ * std::exp2(-std::max(0.0, halvings)));
  askedAt_ = now;
  return answer_;
}

}  // namespace ubt
