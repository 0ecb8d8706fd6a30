// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "transport_ubt/core/base/paper_loss.h"

namespace ubt {

// x of the paper's loops (OptiReduce, section 3.2): the share of the usual time
// tC that a stage waits after the last-percentile packets. It follows the loss
// of each op. Not thread-safe.
class WaitShare {
 public:
  static constexpr double kFirst = 0.1;
  static constexpr double kMin = 0.01;
  static constexpr double kMax = 0.5;
  static constexpr double kStep = 0.01;
  // A loss below this makes x fall by kStep, and one above kPaperLossHigh
  // doubles it.
  static constexpr double kLossLow = 0.0001;

  double value() const { return value_; }

  // An op has returned. `loss`, 0 to 1: the share of its data that is missing.
  void returned(double loss) {
    if (loss > kPaperLossHigh) {
      value_ = std::min(kMax, 2 * value_);
    } else if (loss < kLossLow) {
      value_ = std::max(kMin, value_ - kStep);
    }
  }

 private:
  double value_ = kFirst;
};

}  // namespace ubt
