// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/pacing/loss_response.h"

#include <algorithm>

#include "transport_ubt/core/base/require.h"

namespace ubt {
namespace {

// If a window is too large for its queue, data arrives as fast with a smaller
// one. If kInVain reductions leave less than this part, the loss has other
// causes.
constexpr double kDelivers = 0.55;

}  // namespace

double LossResponse::part() const {
  const double left = 1 - returned_;
  return std::min(1.0, peak_ * (1 - reduction_ * left * left * left));
}

void LossResponse::windowPassed(Duration took, uint64_t came, uint64_t lost) {
  UBT_REQUIRE(took > Duration{0} && came + lost > 0);
  const double lostShare =
      static_cast<double>(lost) / static_cast<double>(came + lost);
  if (lostShare < ignored_ / 2) {
    ignored_ = 0;
  }
  if (lostShare > std::max(kTolerated, 2 * ignored_)) {
    reduce(lostShare,
           static_cast<double>(came) / static_cast<double>(took.count()));
    return;
  }
  reductions_ = 0;
  returned_ +=
      std::min(1.0 / kReturn, std::chrono::duration<double>(took) / returnMin_);
  if (part() == 1) {
    peak_ = returned_ = 1;
  }
}

void LossResponse::reduce(double lostShare, double rate) {
  peak_ = part();
  returned_ = 0;
  reduction_ = std::max(kReduction, lostShare);
  if (reductions_ == kInVain && rate < kDelivers * firstRate_) {
    peak_ = firstPeak_;
    returned_ = 1;
    ignored_ = lostShare;
    reductions_ = 0;
    return;
  }
  if (reductions_ % kInVain == 0) {
    firstPeak_ = peak_;
    firstRate_ = rate;
    reductions_ = 0;
  }
  reductions_++;
}

}  // namespace ubt
