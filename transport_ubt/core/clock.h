// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

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

}  // namespace ubt
