// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/percentile.h"
#include "transport_ubt/core/learn/op_sample.h"

namespace ubt {

// The times of one stage and size class by the paper's loops (OptiReduce,
// section 3.2):
//
//   tB   the 95th percentile of the times in warm-up; it never changes
//   tC   a moving average of the stage's times, with weight 0.95 on the old one
//
// In the paper, all ranks use the median of their tC. Here each rank uses its
// own: to spread them would need a new record. Not thread-safe.
class PaperStage {
 public:
  static constexpr double kPercentile = 0.95;
  static constexpr double kWeight = 0.05;  // of one op in tC

  // An op has returned. Its time counts for tC as
  //
  //   all data came      the time taken
  //   tB ended it        tB
  //   it ended early     the time for all data at the pace so far, at most tB
  void returned(const OpSample::End& end) {
    if (end.took == Duration{0}) {
      return;
    }
    if (bound_ == Duration{0}) {
      warmUp_.push_back(end.took);
    }
    Duration took = end.took;
    if (bound_ > Duration{0} && end.missing > 0) {
      const double all = static_cast<double>(end.came + end.missing);
      // Without data there is no pace.
      took = end.came == 0 ? bound_
                           : wholeNanoseconds(std::min<Fraction>(
                                 end.took * (all / end.came), bound_));
    }
    usual_ = usual_ == Duration{0}
                 ? took
                 : wholeNanoseconds((1 - kWeight) * usual_ + kWeight * took);
  }
  // Warm-up is over. No-op without a sample, and later.
  void fix() {
    if (bound_ == Duration{0} && any()) {
      bound_ = percentile(warmUp_, kPercentile);
      warmUp_.clear();
      warmUp_.shrink_to_fit();
    }
  }

  bool any() const { return usual_ > Duration{0}; }
  Duration bound() const { return bound_; }  // tB; zero: not known yet
  Duration usual() const { return usual_; }  // tC; zero: not known yet

 private:
  using Fraction = std::chrono::duration<double, Duration::period>;

  std::vector<Duration> warmUp_;
  Duration bound_{0};
  Duration usual_{0};
};

}  // namespace ubt
