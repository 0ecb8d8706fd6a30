// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/sim/sim_options.h"

namespace ubt::sim {

// The times when a host's link stands still, in both directions. The time
// between two stalls is exponential, as in the lab.
class Stalls {
 public:
  Stalls(const SimOptions& options, int rank, TimePoint start);

  // When `work` ends that the link begins at `begin`.
  TimePoint end(TimePoint begin, Duration work);
  // When the link has `work` left that it ends at `end`. REQUIRES that end() or
  // stoodStill() was called for times up to `end`.
  TimePoint begin(TimePoint end, Duration work) const;
  // How long the link stands still between two times.
  Duration stoodStill(TimePoint from, TimePoint to);

 private:
  struct Stall {
    TimePoint from;
    TimePoint to;
  };

  // Draws stalls until one begins at `until` or later.
  void drawUntil(TimePoint until);
  // The first stall that ends after `time`.
  std::vector<Stall>::const_iterator after(TimePoint time) const;

  const SimOptions& options_;
  std::mt19937_64 random_;
  std::vector<Stall> stalls_;  // in order
  TimePoint drawn_;            // the end of the last one
};

}  // namespace ubt::sim
