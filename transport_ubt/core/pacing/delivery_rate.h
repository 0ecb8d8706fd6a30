// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/pacing/recent_most.h"

namespace ubt {

// How fast data arrives at a socket while senders have data for it: the best
// sample of the last 10 to 20 s, as in BBR. A host notices data later than it
// comes. So a sample begins and ends when the socket has just been drained:
// then all data that is counted came in that time, and no sample exceeds the
// rate of the link. A socket that is never drained is not sampled. Not
// thread-safe.
class DeliveryRate {
 public:
  // These bytes were taken from the socket.
  void arrived(uint64_t bytes) { taken_ += bytes; }
  // All that came before `now` has been taken. A sample takes `atLeast`, pauses
  // left out.
  void drained(TimePoint now, Duration atLeast);
  // No sender has data from now on: the time until the next data does not
  // count.
  void pause();

  bool known() const { return best_.known(); }
  // REQUIRES known().
  double bytesPerSecond() const { return static_cast<double>(best_.get()); }

 private:
  RecentMost best_;  // bytes a second
  // The sample that is being taken.
  Duration elapsed_{0};
  uint64_t sampled_ = 0;
  TimePoint drainedAt_ = kNever;  // the latest time with data; kNever: none
  uint64_t taken_ = 0;            // since then
};

}  // namespace ubt
