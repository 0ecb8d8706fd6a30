// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/learn/stop_rule.h"

namespace ubt {

// The recent ops in which a rank entered late, and whether it pays to cut
// absent ranks. Ranks that share CPUs are often late, and soon there; ranks
// that compute longer come much later. Not thread-safe.
class LateEntries {
 public:
  static constexpr size_t kRecent = 64;  // ops

  // The last rank entered this long after the base time (StopRule) of an op,
  // cut or not.
  void add(Duration after) {
    if (after > StopRule::kJitter) {
      recent_[ops_++ % kRecent] = after;
    }
  }

  // Whether half of the ops that waited longer than `wait` did so for twice
  // that time or longer. False while no such op is known.
  bool cutsPay(Duration wait) const {
    size_t longer = 0;
    size_t twice = 0;
    for (const Duration after : recent_) {
      longer += after > wait;
      twice += after >= 2 * wait;
    }
    return twice > 0 && 2 * twice >= longer;
  }

 private:
  std::array<Duration, kRecent> recent_{};
  size_t ops_ = 0;
};

}  // namespace ubt
