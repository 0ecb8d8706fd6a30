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

LossResponse::Verdict LossResponse::judge(const Window& window) const {
  const double share = window.share();
  if (share <= tolerated()) {
    return Verdict::kClean;
  }
  const double expected = tolerated() * window.losses / share;
  return window.losses > std::max(1.0, expected + 2 * std::sqrt(expected))
             ? Verdict::kLossy
             : Verdict::kUnclear;
}

void LossResponse::learnBase(double share) {
  if (share > kOutage) {
    return;
  }
  const double small = std::max(kPartMin, kSmall * firstPart_);
  if (hasBase_ && (share < baseLoss_ || part() <= small)) {
    const double more = unexplained(share) - baseLoss_;
    baseLoss_ += (more > 0 ? kRise : kFall) * more;
  }
}

void LossResponse::passed(const Window& window) {
  UBT_REQUIRE(window.took > Duration{0});
  learnBase(window.share());
  returned_ += std::min(
      1.0 / kReturn, std::chrono::duration<double>(window.took) / returnMin_);
  if (part() == 1) {
    peak_ = returned_ = 1;
  }
}

void LossResponse::reduce(const Window& window) {
  const double share = window.share();
  learnBase(share);
  if (returned_ >= 1) {
    firstPart_ = part();
    firstShare_ = std::min(share, kOutage);
  }
  peak_ = part();
  returned_ = 0;
  reduction_ = std::max(kReduction, share);
}

}  // namespace ubt
