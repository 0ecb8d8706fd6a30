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
  own.quartileUs = *quartile;
  uint32_t most = 0;
  for (const Sender& each : senders_) {
    most = std::max(most, each.quartileUs);
  }
  usual_ = std::chrono::microseconds(most);
}

void UsualTimes::cut(int sender, Duration projected) {
  complete(sender,
           any() ? std::min(projected, kProjectionMost * usual_) : projected);
}

}  // namespace ubt
