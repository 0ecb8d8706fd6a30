// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// From the steady clock's time to the time since the Unix epoch, as of now. For
// people to read: the time of day may jump.
inline Duration steadyToUnix() {
  return std::chrono::system_clock::now().time_since_epoch() -
         std::chrono::steady_clock::now().time_since_epoch();
}

// The steady clock's time, as a TimePoint of the core.
inline TimePoint steadyNow() {
  return TimePoint(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace ubt
