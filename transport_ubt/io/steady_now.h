// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// The clock that real time is told by, as the core counts it.
inline TimePoint steadyNow() {
  return TimePoint(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace ubt
