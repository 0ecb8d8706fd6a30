// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/pacing/timer_lateness.h"

namespace ubt {

// How long this host may take to notice an event. It looks for events again and
// again, and an event may come at any moment, so most fall into long pauses
// between two looks. This is the mean pause that an event falls into:
//
//     delay = sum of squared pauses / sum of pauses
//
// TimerLateness is the maximum, which margins need. A window that was as large
// as that would overfill queues. Not thread-safe.
class NoticeDelay {
 public:
  // Pauses are halved in weight whenever they add up to this.
  static constexpr Duration kMemory = std::chrono::seconds(1);
  // A longer pause counts as this.
  static constexpr Duration kMost = TimerLateness::kMost;

  // `assumed` until pauses of a tenth of kMemory are known.
  explicit NoticeDelay(Duration assumed = TimerLateness::kUnmeasured)
      : assumed_(assumed) {}

  // The host has not looked for this time.
  void sample(Duration time) {
    const double seconds = std::chrono::duration<double>(
                               std::min(std::max(time, Duration{0}), kMost))
                               .count();
    sum_ += seconds;
    squares_ += seconds * seconds;
    if (sum_ > std::chrono::duration<double>(kMemory).count()) {
      sum_ /= 2;
      squares_ /= 2;
    }
  }

  Duration get() const {
    return sum_ * kKnownParts < std::chrono::duration<double>(kMemory).count()
               ? assumed_
               : wholeNanoseconds(
                     std::chrono::duration<double>(squares_ / sum_));
  }

 private:
  static constexpr int kKnownParts = 10;

  Duration assumed_;
  double sum_ = 0;      // seconds
  double squares_ = 0;  // of seconds
};

}  // namespace ubt
