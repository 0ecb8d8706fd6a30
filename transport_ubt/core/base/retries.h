// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/deadlines.h"
#include "transport_ubt/core/base/require.h"

namespace ubt {

// Decides when an op repeats a message to each rank that has not answered yet.
// The pause doubles with each try, up to 32 times the first one or kPauseMost,
// whichever is longer.
class Retries {
 public:
  // A longer first pause may double beyond this.
  static constexpr Duration kPauseMost = std::chrono::milliseconds(50);

  // REQUIRES ranks > 0.
  explicit Retries(int ranks) : ranks_(ranks), at_(ranks) {
    UBT_REQUIRE(ranks > 0);
  }

  // The most bytes that one object allocates.
  static size_t bytesFor(int ranks) {
    return Deadlines::bytesFor(ranks) + static_cast<size_t>(ranks);
  }

  TimePoint at(int rank) const { return at_.at(rank); }
  TimePoint earliest() const { return at_.earliest(); }

  // Schedules the next try after `first`, or after twice the last pause if
  // there was a try before.
  void schedule(int rank, TimePoint now, Duration first) {
    tries_.resize(ranks_);
    const Duration pause = std::min<Duration>(
        first * (1 << tries_[rank]),
        std::max<Duration>(first * (1 << kDoublings), kPauseMost));
    at_.set(rank, now + pause);
    tries_[rank] = std::min<uint8_t>(tries_[rank] + 1, kDoublingsMost);
  }
  // The rank has answered but has more to answer: the next pause is `first`
  // again.
  void restart(int rank, TimePoint now, Duration first) {
    if (!tries_.empty()) {
      tries_[rank] = 0;
    }
    schedule(rank, now, first);
  }
  void stop(int rank) { at_.set(rank, kNever); }
  void stopAll() { at_.clear(); }

  // See Deadlines::forDue().
  template <typename Act>
  void forDue(TimePoint now, const Act& act) {
    at_.forDue(now, act);
  }

 private:
  static constexpr uint8_t kDoublings = 5;
  // Enough for a first pause of a microsecond to reach kPauseMost.
  static constexpr uint8_t kDoublingsMost = 20;

  int ranks_;
  Deadlines at_;
  std::vector<uint8_t> tries_;  // by rank; sized on first use
};

}  // namespace ubt
