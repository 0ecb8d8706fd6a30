// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// When an op began here, when its caller entered, and when its stages' clock
// started: once more than half of all ranks had entered. A single early rank
// starts no clock. All times are this host's.
class OpClock {
 public:
  explicit OpClock(TimePoint begunAt) : begunAt_(begunAt) {}

  TimePoint begunAt() const { return begunAt_; }

  void start(TimePoint now) { startedAt_ = now; }
  bool runs() const { return startedAt_ != kNever; }
  // kNever: it does not run.
  TimePoint startedAt() const { return startedAt_; }

  void enter(TimePoint now) { enteredAt_ = now; }
  TimePoint enteredAt() const { return enteredAt_; }
  // How long the caller waited for the clock to start, until `now` at most.
  Duration waited(TimePoint now) const {
    return std::max(std::min(startedAt_, now) - enteredAt_, Duration{0});
  }

  // Nobody looked here when a deadline came. Most likely the host stood still,
  // and its senders with it: they get the time that was missed once more, but
  // no more than `most`, and only once. False: nothing was missed, or all of it
  // was excused before.
  bool excuse(TimePoint now, TimePoint deadline, Duration most) {
    const Duration missed = std::min(now - deadline, most);
    if (excused_ > Duration{0} || missed <= Duration{0}) {
      return false;
    }
    excused_ = now + missed - deadline;
    return true;
  }
  // By how much excuses move a deadline.
  Duration excused() const { return excused_; }

 private:
  TimePoint begunAt_;
  TimePoint startedAt_ = kNever;
  TimePoint enteredAt_{};
  Duration excused_{0};
};

}  // namespace ubt
