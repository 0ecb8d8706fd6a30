// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// Pays for ranks that are cut because they are absent. It is a bucket of
// tokens; a token is a share of one op's contributions. While the bucket covers
// them, absent ranks are cut at once; a rank that hangs empties it and then
// holds the others. Not thread-safe.
class AbsenceBudget {
 public:
  // The largest number of tokens. A new bucket holds kFirst.
  static constexpr double kMost = 0.5;
  static constexpr double kFirst = 0.1;
  // Late ranks show how long a cut rank would have held the others. Until
  // kWaitsLeast such waits are known, every wait counts as long enough.
  static constexpr size_t kWaits = 64;
  static constexpr size_t kWaitsLeast = 8;

  // An op begins.
  void earn(double share) { tokens_ = std::min(kMost, tokens_ + share); }

  // The share of an op's contributions that may be cut, if this has to save
  // `least` in the mean.
  double most(Duration least) const {
    return waits_ < kWaitsLeast || meanWait() >= least ? tokens_ : 0;
  }
  void spend(double share) { tokens_ -= share; }

  // Ranks were absent when they might have been cut, and the last of them came
  // this much later. Whether they were cut does not matter.
  void waited(Duration more) {
    recent_[waits_ % kWaits] = more;
    waits_++;
  }

  double tokens() const { return tokens_; }

 private:
  Duration meanWait() const {
    const size_t known = std::min(waits_, kWaits);
    Duration all{0};
    for (size_t i = 0; i < known; i++) {
      all += recent_[i];
    }
    return all / static_cast<int64_t>(known);
  }

  double tokens_ = kFirst;
  std::array<Duration, kWaits> recent_{};
  size_t waits_ = 0;
};

}  // namespace ubt
