// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/sim/sim_options.h"

namespace ubt::sim {

// Other people's traffic: once in every period, at a random time in it, some
// hosts send to one, as in the lab.
class Bursts {
 public:
  struct Chunk {
    TimePoint at{};
    int source = 0;
    int victim = 0;
  };
  // What is handed over at once, on the wire.
  static constexpr size_t kChunkBytes = 16 * 1514;

  Bursts(const SimOptions& options, TimePoint start);

  // The next chunk that is sent by `until`; false: there is none. Chunks come
  // in order.
  bool next(TimePoint until, Chunk* out);

 private:
  void drawBurst();

  const SimOptions& options_;
  std::mt19937_64 random_;
  std::vector<int> hosts_;  // the victim, then the sources
  Duration interval_{0};    // between chunks
  TimePoint period_;        // the next one begins
  TimePoint at_ = kNever;   // the next chunk
  TimePoint end_{};         // of the burst
  size_t turn_ = 0;
};

}  // namespace ubt::sim
