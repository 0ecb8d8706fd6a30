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

 private:
  TimePoint begunAt_;
  TimePoint startedAt_ = kNever;
  TimePoint enteredAt_{};
};

}  // namespace ubt
