// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace ubt {

// The protocol's time: nanoseconds of a monotonic clock that the driver reads.
// It has no now(), because the core gets the time as an argument.
struct ProtocolClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<ProtocolClock, duration>;
  static constexpr bool is_steady = true;
};

using Duration = ProtocolClock::duration;
using TimePoint = ProtocolClock::time_point;

constexpr TimePoint kNever = TimePoint::max();

// Converts the result of arithmetic with fractions to whole nanoseconds,
// rounded towards zero.
inline Duration wholeNanoseconds(
    std::chrono::duration<double, Duration::period> exact) {
  return std::chrono::duration_cast<Duration>(exact);
}

// The time stamp of the wire format: microseconds modulo 2^32.
inline uint32_t stampUsOf(TimePoint at) {
  return static_cast<uint32_t>(at.time_since_epoch() /
                               std::chrono::microseconds(1));
}

}  // namespace ubt
