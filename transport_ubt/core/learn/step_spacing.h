// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/percentile.h"
#include "transport_ubt/core/base/require.h"

namespace ubt {

// The usual time between the first ops of bursts: the time of a training step.
// Ops that overlap are one burst, as are ops that begin within the usual time
// of a stage. Of ops that follow one after the other, each is a step. Not
// thread-safe.
class StepSpacing {
 public:
  static constexpr size_t kRecent = 64;

  // An op begins here. `usual`: of its first stage.
  void begins(TimePoint now, Duration usual) {
    const bool follows = open_ > 0 || (any_ && now - begunAt_ <= usual);
    open_++;
    begunAt_ = now;
    if (follows) {
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
  void ends() {
    UBT_REQUIRE(open_ > 0);
    open_--;
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
  TimePoint begunAt_{};  // of the last op
  TimePoint burstAt_{};
};

}  // namespace ubt
