// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/usual_times.h"

#include <algorithm>

#include "transport_ubt/core/base/require.h"

namespace ubt {

void UsualTimes::complete(int sender, Duration took) {
  UBT_REQUIRE(sender >= 0 && static_cast<size_t>(sender) < senders_.size());
  Sender& own = senders_[sender];
  own.us[own.count % kRecent] = static_cast<uint32_t>(
      std::clamp<int64_t>(took / std::chrono::microseconds(1), 1, UINT32_MAX));
  own.count++;
  auto recent = own.us;
  const size_t known = std::min<size_t>(own.count, kRecent);
  const auto quartile = recent.begin() + known / 4;
  std::nth_element(recent.begin(), quartile, recent.begin() + known);
  const uint32_t before = own.quartileUs;
  own.quartileUs = *quartile;
  if (own.quartileUs >= mostUs_) {
    mostUs_ = own.quartileUs;
  } else if (before == mostUs_) {  // it was the slowest; others may be now
    mostUs_ = 0;
    for (const Sender& each : senders_) {
      mostUs_ = std::max(mostUs_, each.quartileUs);
    }
  }
}

}  // namespace ubt
