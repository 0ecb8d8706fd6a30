// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/sim/sim_options.h"

namespace ubt::sim {

// Traffic of other users. Once per period, at a random time, some hosts send to
// one host, as in the lab.
class Bursts {
 public:
  struct Chunk {
    TimePoint at{};
    int source = 0;
    int victim = 0;
  };
  // The bytes that a host hands over at once, with all headers.
  static constexpr size_t kChunkBytes = 16 * 1514;

  Bursts(const SimOptions& options, TimePoint start);

  // Gives the next chunk that is sent by `until`, in order of time. Returns
  // false if there is none.
  bool next(TimePoint until, Chunk* out);

 private:
  void drawBurst();

  const SimOptions& options_;
  std::mt19937_64 random_;
  std::vector<int> hosts_;  // the victim, then the sources
  Duration interval_{0};    // time between chunks
  TimePoint period_;        // the next period begins
  TimePoint at_ = kNever;   // time of the next chunk
  TimePoint end_{};         // end of the burst
  size_t turn_ = 0;
};

}  // namespace ubt::sim
