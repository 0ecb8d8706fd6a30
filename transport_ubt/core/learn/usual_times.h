// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// The time that a stage of one size class usually takes: the largest, over
// senders, of the lower quartile of that sender's last kRecent times. So a
// sender that is always late belongs to the usual time, and one that is late
// now and then does not. Not thread-safe.
class UsualTimes {
 public:
  static constexpr size_t kRecent = 64;
  // A sender whose data was cut counts with its projection, at most this many
  // times the usual time. Otherwise one stalled op would count for ever.
  static constexpr int kProjectionMost = 4;

  explicit UsualTimes(int senders) : senders_(senders) {}

  // A sender's data was complete this long after the stage's clock started.
  void complete(int sender, Duration took);
  // The sender's data was cut. It would have been complete after `projected`.
  // It counts with at most `most`, which is mostProjected() before the op.
  void cut(int sender, Duration projected, Duration most) {
    complete(sender, std::min(projected, most));
  }

  bool any() const { return mostUs_ > 0; }
  Duration mostProjected() const {
    return any() ? kProjectionMost * usual() : Duration::max();
  }
  // Zero while nothing is known.
  Duration usual() const { return std::chrono::microseconds(mostUs_); }

 private:
  struct Sender {
    std::array<uint32_t, kRecent> us{};  // the times, in microseconds
    uint32_t count = 0;                  // of all times so far
    uint32_t quartileUs = 0;
  };

  std::vector<Sender> senders_;
  uint32_t mostUs_ = 0;  // of all quartiles
};

}  // namespace ubt
