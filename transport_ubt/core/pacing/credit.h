// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "transport_ubt/core/base/require.h"

namespace ubt {

// Credit is counted in data numbers of one direction: numbers below the limit
// may be sent. Limits are absolute and only rise, so a lost, repeated or
// replayed message cannot shrink or reopen the window. Not thread-safe.
class SendCredit {
 public:
  explicit SendCredit(uint64_t initial) : limit_(initial) {}

  bool available() const { return next_ < limit_; }
  // Takes the next number. REQUIRES available().
  uint64_t take() {
    UBT_REQUIRE(available());
    return next_++;
  }
  uint64_t next() const { return next_; }
  void raise(uint64_t limit) { limit_ = std::max(limit_, limit); }

 private:
  uint64_t next_ = 0;
  uint64_t limit_;
};

// The receiver's side of one direction. Not thread-safe.
class ReceiveCredit {
 public:
  explicit ReceiveCredit(uint64_t initial) : limit_(initial) {}

  // A data number arrived. Returns the number of those skipped, as used().
  uint64_t arrived(uint64_t number) {
    const uint64_t skipped = used(number);
    next_ = std::max(next_, number + 1);
    return skipped;
  }

  // The sender has used the numbers below `next`, and perhaps had no credit for
  // the last of them. Returns how many of those with credit have not come.
  uint64_t used(uint64_t next) {
    const uint64_t before = next_;
    next_ = std::max(next_, next);
    return std::min(next_, limit_) - std::min(before, limit_);
  }

  // The sender has used all numbers below `next`. Those that have not come are
  // lost or late, and no longer count as in flight.
  void usedBelow(uint64_t next) {
    next_ = std::max(next_, std::min(next, limit_));
  }

  // Lets the sender use `share` numbers beyond the highest one seen.
  void grant(uint64_t share) { limit_ = std::max(limit_, next_ + share); }

  // One past the highest number known to have been used.
  uint64_t next() const { return next_; }
  uint64_t limit() const { return limit_; }
  // How many numbers the sender may still use, as far as is known here.
  uint64_t left() const { return limit_ - std::min(limit_, next_); }

 private:
  uint64_t next_ = 0;
  uint64_t limit_;
};

}  // namespace ubt
