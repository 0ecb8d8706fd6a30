// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/wire/options.h"

namespace ubt {

// Learns the bound tB of one stage of one size class (OptiReduce, section
// 3.2.1):
//
//   tB = median + max(median / 4, k * quartile distance, 2 * lateness)
//
// The median is that of the last kRecent stages. The quartile distance is from
// the median to the nearer quartile of complete stages; the farther one
// measures bursts, and the bound is there to end these. k is larger if ops wait
// for hosts than if they wait for links. A burst changes none of these terms. A
// network that has become slower for good changes them in the end. Not
// thread-safe.
class StageBound {
 public:
  // Why stages of one size take different times.
  struct Unrest {
    // How late deadlines may be noticed on any rank.
    Duration lateness{0};
    // Whether ops wait for links rather than for hosts.
    bool ofLinks = false;
  };

  // The stage was complete after `elapsed`, during warm-up or after it.
  void complete(Duration elapsed, bool warmup);
  // The stage was not complete. `atLeast` is the time that it would have taken
  // at its pace, if nearly all of its data came. It is the bound if the stage
  // ended at it and the missing data came later.
  void incomplete(Duration atLeast);

  // Whether anything has been learned.
  bool any() const { return stages_ > 0; }
  // Zero while nothing has been learned.
  Duration bound(BoundMode mode, const Unrest& unrest) const;

 private:
  static constexpr size_t kRecent = 64;
  static constexpr size_t kWarmupMax = 256;

  struct Stage {
    Duration took{0};
    bool complete = false;
  };

  void add(const Stage& stage);

  std::vector<Duration> warmup_;
  std::array<Stage, kRecent> recent_{};
  size_t stages_ = 0;
};

}  // namespace ubt
