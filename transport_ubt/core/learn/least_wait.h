// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// The least wait of a stage for missing data, beyond the base time of StopRule.
// Take the recent ops whose data came later than some wait. If at least half of
// them took a margin longer, cuts after that wait pay. The least wait is the
// shortest such wait. So a stage waits for jitter of hosts, but not for delays
// by other traffic or by a rank that computes long. Not thread-safe.
class LeastWait {
 public:
  static constexpr size_t kRecent = 128;  // ops

  // In an op, the last data came this long after the base time; zero or less:
  // it came before. Data that was cut counts with the time at which it came, or
  // would have come.
  void add(Duration excess) {
    recentUs_[ops_++ % kRecent] = excess / std::chrono::microseconds(1);
  }

  // At least `margin`. Without late data in recent ops, every wait pays.
  Duration get(Duration margin) const;

 private:
  std::array<int64_t, kRecent> recentUs_{};
  size_t ops_ = 0;
};

}  // namespace ubt
