// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/pacing/loss_response.h"

#include <algorithm>
#include <cmath>

#include "transport_ubt/core/base/require.h"

namespace ubt {

double LossResponse::part() const {
  const double left = 1 - returned_;
  return std::clamp(
      peak_ * (1 - reduction_ * left * left * left), kPartMin, 1.0);
}

// The share of a window that is lost for other reasons than its size.
double LossResponse::unexplained(double share) const {
  const double explained = 1 - (1 - firstShare_) * firstPart_ / part();
  return std::max(0.0, share - std::max(0.0, explained));
}

bool LossResponse::isLossy(const Window& window) const {
  const double tolerated = tolerated_ + 2 * baseLoss_;
  return window.share() >
         tolerated + 2 * std::sqrt(tolerated / window.datagrams);
}

void LossResponse::windowPassed(const Window& window) {
  UBT_REQUIRE(window.took > Duration{0} && window.came + window.lost > 0 &&
              window.datagrams > 0);
  const double share = window.share();
  const bool lossy = isLossy(window);
  if (hasBase_ && (share < baseLoss_ || part() <= kSmall * firstPart_)) {
    const double more = unexplained(share) - baseLoss_;
    baseLoss_ += (more > 0 ? kRise : kFall) * more;
  }
  if (lossy) {
    if (returned_ >= 1) {
      firstPart_ = part();
      firstShare_ = share;
    }
    peak_ = part();
    returned_ = 0;
    reduction_ = std::max(kReduction, share);
    return;
  }
  returned_ += std::min(
      1.0 / kReturn, std::chrono::duration<double>(window.took) / returnMin_);
  if (part() == 1) {
    peak_ = returned_ = 1;
  }
}

}  // namespace ubt
