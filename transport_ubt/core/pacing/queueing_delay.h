// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// The queueing delay of one peer's datagrams: how much longer the latest one
// took than the fastest recent one. Clocks of two hosts have different zeros,
// so only differences count. They also drift apart, so old minima are
// forgotten.
class QueueingDelay {
 public:
  // The minimum covers at least this time, and at most twice this time.
  static constexpr Duration kMemory = std::chrono::seconds(10);

  // Takes the stamp of a datagram that has come: its sender's clock in
  // microseconds modulo 2^32. Returns the datagram's queueing delay.
  Duration sample(TimePoint now, uint32_t stampUs) {
    const uint32_t here = stampUsOf(now);
    if (!known_) {
      known_ = true;
      zero_ = here - stampUs;
      epochEnd_ = now + kMemory;
    }
    const auto took = static_cast<int32_t>(here - stampUs - zero_);
    if (now >= epochEnd_) {
      before_ = now >= epochEnd_ + kMemory ? took : least_;
      least_ = took;
      epochEnd_ = now + kMemory;
    }
    least_ = std::min(least_, took);
    return std::chrono::microseconds(int64_t{took} - std::min(least_, before_));
  }

 private:
  bool known_ = false;
  uint32_t zero_ = 0;   // the first datagram's time, an arbitrary value
  int32_t least_ = 0;   // minimum of this epoch, relative to zero_
  int32_t before_ = 0;  // minimum of the epoch before
  TimePoint epochEnd_{};
};

}  // namespace ubt
