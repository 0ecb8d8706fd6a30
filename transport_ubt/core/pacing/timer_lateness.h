// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// How late a deadline may be noticed here: the worst of late, be it that a
// timer fired late or that the process was not running. A bound that allows for
// no multiple of it would measure the scheduler. Decays by half in kHalfLife.
// More than kMost is no scheduler's habit: the process was stopped, and counts
// so.
class TimerLateness {
 public:
  static constexpr Duration kHalfLife = std::chrono::seconds(10);
  static constexpr Duration kMost = std::chrono::milliseconds(50);
  // Assumed before anything was measured; from then on it decays.
  static constexpr Duration kUnmeasured = std::chrono::microseconds(500);

  explicit TimerLateness(Duration assumed = kUnmeasured) : worst_(assumed) {}

  void sample(TimePoint now, Duration late);
  Duration worst(TimePoint now) const;

 private:
  Duration worst_;
  TimePoint at_{};
};

}  // namespace ubt
