// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// The maximum of the values of the last 10 to 20 seconds. Not thread-safe.
class RecentMost {
 public:
  static constexpr Duration kMemory = std::chrono::seconds(10);

  void add(TimePoint now, int64_t value) {
    if (!known_ || now >= epochEnd_) {
      before_ = !known_ || now >= epochEnd_ + kMemory ? value : most_;
      most_ = value;
      epochEnd_ = now + kMemory;
      known_ = true;
    }
    most_ = std::max(most_, value);
  }
  // Whether there was any value.
  bool known() const { return known_; }
  // REQUIRES known(). Without new values the last ones stay.
  int64_t get() const { return std::max(most_, before_); }

 private:
  bool known_ = false;
  int64_t most_ = 0;    // of this epoch
  int64_t before_ = 0;  // of the epoch before
  TimePoint epochEnd_{};
};

}  // namespace ubt
