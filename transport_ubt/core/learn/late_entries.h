// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/learn/stop_rule.h"

namespace ubt {

// Decides whether it pays to cut absent ranks. It remembers how late the last
// rank was in recent ops. Ranks that share CPUs are often late, but come soon.
// Ranks that compute longer come much later. Not thread-safe.
class LateEntries {
 public:
  static constexpr size_t kRecent = 64;  // late entries
  // This many entries that came soon are added. One long delay may be chance,
  // for instance the first fork of a large process.
  static constexpr size_t kCameSoon = 2;

  // The last rank entered this long after the base time (StopRule) of an op,
  // cut or not. Only an entry later than jitter counts.
  void add(Duration after) {
    if (after > StopRule::kJitter) {
      recent_[ops_++ % kRecent] = after;
    }
  }

  // True if at least half of the entries later than `wait`, kCameSoon included,
  // were at least twice as late.
  bool cutsPay(Duration wait) const {
    size_t longer = kCameSoon;
    size_t twice = 0;
    for (const Duration after : recent_) {
      longer += after > wait;
      twice += after >= 2 * wait;
    }
    return 2 * twice >= longer;
  }

 private:
  std::array<Duration, kRecent> recent_{};
  size_t ops_ = 0;
};

}  // namespace ubt
