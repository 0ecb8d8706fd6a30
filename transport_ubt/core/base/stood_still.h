// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// Whether a rank that notices the end of its own call so late most likely stood
// still itself. Then no other rank is to blame.
inline bool stoodStill(Duration late) {
  return late >= std::chrono::seconds(1);
}

}  // namespace ubt
