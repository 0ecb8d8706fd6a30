// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/percentile.h"
#include "transport_ubt/core/base/require.h"

namespace ubt {

// The usual time between the first ops of bursts: the time of a training step.
// Ops that overlap, or follow each other within the usual time of an op, are
// one burst. Not thread-safe.
class StepSpacing {
 public:
  static constexpr size_t kRecent = 64;

  // An op begins here. `usual`: its usual time.
  void begins(TimePoint now, Duration usual) {
    if (open_++ > 0 || (any_ && now - endedAt_ <= usual)) {
      return;
    }
    if (any_) {
      const Duration spacing = now - burstAt_;
      if (recent_.size() < kRecent) {
        recent_.push_back(spacing);
      } else {
        recent_[bursts_ % kRecent] = spacing;
      }
      bursts_++;
    }
    any_ = true;
    burstAt_ = now;
  }
  // An op is over here. REQUIRES that one had begun.
  void ends(TimePoint now) {
    UBT_REQUIRE(open_ > 0);
    open_--;
    endedAt_ = now;
  }

  // The lower quartile of the last kRecent; zero: unknown.
  Duration usual() const {
    return recent_.empty() ? Duration{0} : percentile(recent_, 0.25);
  }

 private:
  std::vector<Duration> recent_;
  size_t bursts_ = 0;
  size_t open_ = 0;
  bool any_ = false;
  TimePoint burstAt_{};
  TimePoint endedAt_{};
};

}  // namespace ubt
