// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// When the contributions to the own shard of one op arrived, and what else
// decides when an owner stops waiting (StopRule); and the times of the call and
// its results. All times are this host's; kNever: it did not happen before the
// call returned.
class OpTrace {
 public:
  // Slots of one rank that arrived at about the same time.
  struct Arrival {
    int rank = 0;
    TimePoint at{};  // of the last one
    uint32_t slots = 0;
  };
  // Arrivals of one rank within this time are one.
  static constexpr Duration kTogether = std::chrono::microseconds(50);

  explicit OpTrace(int ranks)
      : entered(ranks, kNever),
        through(ranks, kNever),
        results(ranks, kNever) {}

  void arrived(TimePoint now, int rank) {
    if (arrivals.empty() || arrivals.back().rank != rank ||
        now - arrivals.back().at > kTogether) {
      arrivals.push_back({rank, now, 0});
    }
    arrivals.back().at = now;
    arrivals.back().slots++;
  }

  TimePoint startedAt = kNever;    // the clock (OpClock)
  std::vector<TimePoint> entered;  // by rank
  // By rank: it reported that it is through (Attendance::passThrough).
  std::vector<TimePoint> through;
  uint32_t slots = 0;             // that each rank owes
  std::vector<Arrival> arrivals;  // in order
  TimePoint calledAt = kNever;
  TimePoint closedAt = kNever;     // the own shard
  std::vector<TimePoint> results;  // by owner: no more can come
  TimePoint returnedAt = kNever;
};

}  // namespace ubt
