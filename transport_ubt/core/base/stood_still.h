// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// True if a rank notices the end of its own call so late that most likely this
// rank itself was stopped. Then no other rank is to blame.
inline bool stoodStill(Duration late) {
  return late >= std::chrono::seconds(1);
}

}  // namespace ubt
