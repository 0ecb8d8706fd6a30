// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/wire/options.h"

namespace ubt {

// Learns how long one stage of one size class may take (OptiReduce, section
// 3.2.1, tB): the running median and a quarter, or, where stages scatter by
// themselves, some distances from the median of that quartile of complete ones
// which is nearer on top of it, or, where hosts are busy, twice their lateness.
// (The farther quartile is that of bursts, which a bound is there to end.) A
// burst moves none of these; a network that has got slower for good does, in
// the end. Not thread-safe.
class StageBound {
 public:
  // Why stages of one size take unlike times.
  struct Unrest {
    // How late deadlines may be noticed on any rank.
    Duration lateness{0};
    // Whether what ops wait for are links, rather than hosts.
    bool ofLinks = false;
  };

  // The stage was complete after `elapsed`, during warm-up or after it.
  void complete(Duration elapsed, bool warmup);
  // It was not, and would have taken so long, by the pace at which nearly all
  // of it came; or longer, if that is the bound at which it ended and what was
  // missing came after that.
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
