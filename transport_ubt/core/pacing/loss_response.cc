// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/pacing/loss_response.h"

#include <algorithm>

namespace ubt {
namespace {

// If a window is too large for its queue, a smaller one delivers as much. If
// kInVain reductions leave less than this part, the loss has other causes.
constexpr double kDelivers = 0.55;

Duration returnTime(Duration round) {
  return std::max(LossResponse::kReturn * round, LossResponse::kReturnMin);
}

}  // namespace

double LossResponse::part(TimePoint now, Duration round) const {
  if (reducedAt_ == kNever) {
    return 1;
  }
  const Duration back = returnTime(round);
  const double left =
      1 - std::chrono::duration<double>(now - reducedAt_) / back;
  return std::min(1.0, peak_ * (1 - kReduction * left * left * left));
}

void LossResponse::windowPassed(TimePoint now,
                                Duration round,
                                double lostShare) {
  if (lostShare < ignored_ / 2) {
    ignored_ = 0;
  }
  if (lostShare <= std::max(kTolerated, 2 * ignored_)) {
    reductions_ = 0;
    if (part(now, round) == 1) {
      reducedAt_ = kNever;
    }
  } else if (reducedAt_ == kNever || now >= reducedAt_ + round) {
    reduce(now, round, lostShare);
  }
}

void LossResponse::reduce(TimePoint now, Duration round, double lostShare) {
  const double before = part(now, round);
  const double delivered = before * (1 - lostShare);
  peak_ = before;
  reducedAt_ = now;
  if (reductions_ == kInVain && delivered < kDelivers * firstDelivered_) {
    peak_ = firstPeak_;
    reducedAt_ = now - returnTime(round);  // as if the return were over
    ignored_ = lostShare;
    reductions_ = 0;
    return;
  }
  if (reductions_ % kInVain == 0) {
    firstPeak_ = before;
    firstDelivered_ = delivered;
    reductions_ = 0;
  }
  reductions_++;
}

}  // namespace ubt
