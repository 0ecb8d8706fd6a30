// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// Limits the bytes that go to one peer in its turn, a train. Each train costs
// CPU time. But a train is lost whole, and the data of other peers waits behind
// it. So it may occupy the link for a short time only, and for half of that
// after a loss. Not thread-safe.
class TrainLength {
 public:
  static constexpr size_t kBytesMin = 8 << 10;
  // With room left for the control datagram behind it.
  static constexpr size_t kBytesMax = 64256;
  static constexpr Duration kTime = std::chrono::milliseconds(1);
  static constexpr Duration kShortTime = std::chrono::microseconds(500);
  static constexpr Duration kShortFor = std::chrono::seconds(10);

  // Without `adapts` every train may have the most bytes.
  explicit TrainLength(bool adapts = true) : adapts_(adapts) {}

  // Data was lost on its way from this host or to it. Trains are short for
  // kShortFor from now on.
  void shorten(TimePoint now) { shortUntil_ = now + kShortFor; }

  // On a link of this rate, in bytes a second; zero: unknown.
  size_t bytes(TimePoint now, double perSecond) const {
    if (!adapts_ || perSecond == 0) {
      return kBytesMax;
    }
    const Duration time = now < shortUntil_ ? kShortTime : kTime;
    const double fits = perSecond * std::chrono::duration<double>(time).count();
    return fits >= kBytesMax ? kBytesMax
                             : std::max(kBytesMin, static_cast<size_t>(fits));
  }

 private:
  bool adapts_;
  TimePoint shortUntil_{};
};

}  // namespace ubt
