// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// How long a stage waits for missing data at least, beyond the base time of
// StopRule, so that cuts pay: most of the recent ops in which data came later
// than this wait took a margin longer, or more. So jitter of hosts is waited
// for, and a delay by other traffic, or by a rank that computes long, is not.
// Not thread-safe.
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
