// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

namespace ubt {

// x: a stage waits for data that the network delays until x times the base
// time (StopRule). After each op x grows if more than its target was cut, and
// shrinks if less was, so that the target is cut in the long run. Neither the
// share that was cut nor x is limited beyond kMin and kMax: lower limits would
// let more be cut than the target. Ranks need not have the same x. Not
// thread-safe.
class CutFactor {
 public:
  static constexpr double kFirst = 1.5;
  static constexpr double kMin = 1.1;
  static constexpr double kMax = 64;

  double value() const { return value_; }

  // An op is over. `cut`: the share of its contributions that was cut, over all
  // owners. REQUIRES 0 < target.
  void returned(double cut, double target) {
    inverse_ = std::min(inverse_ + 1, kInverseLast);
    const double gain = 1.0 / inverse_;
    value_ =
        std::clamp(value_ * std::exp(gain * (cut / target - 1)), kMin, kMax);
  }

 private:
  // The gain falls from about 1/20 to 1/200 in the first 180 ops.
  static constexpr int kInverseFirst = 20;
  static constexpr int kInverseLast = 200;

  double value_ = kFirst;
  int inverse_ = kInverseFirst;  // 1 / gain
};

}  // namespace ubt
