// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// How long datagrams of one peer wait on their way: by how much the latest took
// longer than the fastest of late. Clocks of two hosts share no zero, so only
// differences count; they run apart as well, so old minima are forgotten.
class QueueingDelay {
 public:
  // The fastest of so long at least, of twice that at most.
  static constexpr Duration kMemory = std::chrono::seconds(10);

  // A datagram that its sender stamped with its clock, in microseconds modulo
  // 2^32, has come.
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
  uint32_t zero_ = 0;   // what the first one took; clocks differ by any amount
  int32_t least_ = 0;   // of this epoch, relative to zero_
  int32_t before_ = 0;  // of the one before
  TimePoint epochEnd_{};
};

}  // namespace ubt
