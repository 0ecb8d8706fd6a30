// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/deadlines.h"
#include "transport_ubt/core/base/require.h"

namespace ubt {

// When an op says one thing to each rank that has not answered yet, and when
// again: with pauses that double.
class Retries {
 public:
  // REQUIRES ranks > 0.
  explicit Retries(int ranks) : ranks_(ranks), at_(ranks) {
    UBT_REQUIRE(ranks > 0);
  }

  // What one allocates at most.
  static size_t bytesFor(int ranks) {
    return Deadlines::bytesFor(ranks) + static_cast<size_t>(ranks);
  }

  TimePoint at(int rank) const { return at_.at(rank); }
  TimePoint earliest() const { return at_.earliest(); }

  // The next time is a pause from `now` on, twice as long as the last one was;
  // the first is as given.
  void schedule(int rank, TimePoint now, Duration first) {
    tries_.resize(ranks_);
    at_.set(rank, now + first * (1 << tries_[rank]));
    tries_[rank] = std::min<uint8_t>(tries_[rank] + 1, kDoublingsMax);
  }
  // The rank has answered, and owes more: the next pause is a first one.
  void restart(int rank, TimePoint now, Duration first) {
    if (!tries_.empty()) {
      tries_[rank] = 0;
    }
    schedule(rank, now, first);
  }
  void stop(int rank) { at_.set(rank, kNever); }
  void stopAll() { at_.clear(); }

  // As Deadlines::forDue().
  template <typename Act>
  void forDue(TimePoint now, const Act& act) {
    at_.forDue(now, act);
  }

 private:
  static constexpr uint8_t kDoublingsMax = 5;

  int ranks_;
  Deadlines at_;
  std::vector<uint8_t> tries_;  // by rank; sized on first use
};

}  // namespace ubt
