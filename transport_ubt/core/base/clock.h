// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace ubt {

// The protocol's time: nanoseconds on some monotonic clock that the driver
// reads. There is no now() on purpose: the core is told the time.
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

// What arithmetic with fractions comes to, in whole nanoseconds, cut off.
inline Duration wholeNanoseconds(
    std::chrono::duration<double, Duration::period> exact) {
  return std::chrono::duration_cast<Duration>(exact);
}

// As the wire stamps it: in microseconds, modulo 2^32.
inline uint32_t stampUsOf(TimePoint at) {
  return static_cast<uint32_t>(at.time_since_epoch() /
                               std::chrono::microseconds(1));
}

}  // namespace ubt
