// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/pacing/recent_most.h"

namespace ubt {

// The queueing delay of one peer's datagrams: how much longer the latest one
// took than the fastest recent one. Clocks of two hosts have different zeros,
// so only differences count. They also drift apart, so old minima are
// forgotten.
class QueueingDelay {
 public:
  // Takes the stamp of a datagram that has come: its sender's clock in
  // microseconds modulo 2^32. Returns the datagram's queueing delay.
  Duration sample(TimePoint now, uint32_t stampUs) {
    const uint32_t here = stampUsOf(now);
    if (!known_) {
      known_ = true;
      zero_ = here - stampUs;
    }
    const auto took = int64_t{static_cast<int32_t>(here - stampUs - zero_)};
    least_.add(now, -took);
    return std::chrono::microseconds(took + least_.get());
  }

 private:
  bool known_ = false;
  uint32_t zero_ = 0;  // the first datagram's time, an arbitrary value
  RecentMost least_;   // negative times, relative to zero_
};

}  // namespace ubt
