// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// The times of an op at this rank: its first news, the caller's entry, and the
// start of the stages' clock. The clock starts when more than half of all ranks
// have entered, so that a single early rank does not start it. All times are
// this host's.
class OpClock {
 public:
  explicit OpClock(TimePoint begunAt) : begunAt_(begunAt) {}

  TimePoint begunAt() const { return begunAt_; }

  void start(TimePoint now) { startedAt_ = now; }
  bool runs() const { return startedAt_ != kNever; }
  // kNever: it has not started.
  TimePoint startedAt() const { return startedAt_; }

  void enter(TimePoint now) { enteredAt_ = now; }
  TimePoint enteredAt() const { return enteredAt_; }
  // The time from entry to the start of the clock, or to `now` if that is
  // earlier.
  Duration waited(TimePoint now) const {
    return std::max(std::min(startedAt_, now) - enteredAt_, Duration{0});
  }

  // The host noticed a deadline late, at `now`. Most likely it was stopped, and
  // so were senders on the same host. Extends the deadline by that time, at
  // most by `most`, and only once per op. False: the deadline stays.
  bool excuse(TimePoint now, TimePoint deadline, Duration most) {
    const Duration missed = std::min(now - deadline, most);
    if (excused_ > Duration{0} || missed <= Duration{0}) {
      return false;
    }
    excused_ = now + missed - deadline;
    return true;
  }
  // By how much the deadline was extended.
  Duration excused() const { return excused_; }

 private:
  TimePoint begunAt_;
  TimePoint startedAt_ = kNever;
  TimePoint enteredAt_{};
  Duration excused_{0};
};

}  // namespace ubt
