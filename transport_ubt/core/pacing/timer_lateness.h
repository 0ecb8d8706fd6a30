// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// How late this host may notice a deadline: the maximum of recent delays. A
// timer may fire late, or the process may not be running. A margin of less
// than a multiple of this would measure the scheduler, not the network. The
// maximum halves in kHalfLife. A delay above kMost is not the scheduler's: the
// process was stopped, and the delay counts as kMost. Not thread-safe.
class TimerLateness {
 public:
  static constexpr Duration kHalfLife = std::chrono::seconds(10);
  static constexpr Duration kMost = std::chrono::milliseconds(50);
  // Assumed until the first measurement; from then on it decays.
  static constexpr Duration kUnmeasured = std::chrono::microseconds(500);

  explicit TimerLateness(Duration assumed = kUnmeasured) : worst_(assumed) {}

  void sample(TimePoint now, Duration late);
  Duration worst(TimePoint now) const;

 private:
  Duration worst_;
  TimePoint at_{};
  // The latest answer of worst(): all datagrams of a train ask at one time.
  mutable TimePoint askedAt_ = kNever;
  mutable Duration answer_{0};
};

}  // namespace ubt
