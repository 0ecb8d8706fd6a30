// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/pacing/delivery_rate.h"

#include <chrono>

namespace ubt {

void DeliveryRate::drained(TimePoint now, Duration atLeast) {
  if (taken_ == 0) {
    return;
  }
  if (drainedAt_ != kNever) {
    elapsed_ += now - drainedAt_;
    sampled_ += taken_;
  }
  drainedAt_ = now;
  taken_ = 0;
  if (elapsed_ > Duration{0} && elapsed_ >= atLeast) {
    best_.add(
        now,
        static_cast<int64_t>(static_cast<double>(sampled_) /
                             std::chrono::duration<double>(elapsed_).count()));
    elapsed_ = Duration{0};
    sampled_ = 0;
  }
}

void DeliveryRate::pause() {
  drainedAt_ = kNever;
  taken_ = 0;
}

}  // namespace ubt
