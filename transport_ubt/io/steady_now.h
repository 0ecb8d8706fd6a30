// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// The steady clock's time, as a TimePoint of the core.
inline TimePoint steadyNow() {
  return TimePoint(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace ubt
