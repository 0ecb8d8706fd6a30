// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/least_wait.h"

#include <algorithm>
#include <chrono>

namespace ubt {

Duration LeastWait::get(Duration margin) const {
  std::array<int64_t, kRecent> late = recentUs_;
  const int64_t marginUs = margin / std::chrono::microseconds(1);
  const auto end =
      std::remove_if(late.begin(), late.end(), [&](int64_t excess) {
        return excess <= marginUs;
      });
  std::sort(late.begin(), end);
  int64_t wait = marginUs;
  for (auto next = late.begin(); next != end; ++next) {
    // The op in the middle of those that come later than `wait`.
    if (*(next + (end - next) / 2) - wait >= marginUs) {
      return std::chrono::microseconds(wait);
    }
    wait = *next;
  }
  // No later op is known. One that is barely later would not pay.
  return std::chrono::microseconds(late.begin() == end ? wait
                                                       : wait + marginUs);
}

}  // namespace ubt
