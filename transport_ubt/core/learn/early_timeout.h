// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/require.h"

namespace ubt {

// Learns how long one stage of one size class waits for the rest once most of
// the data has come: x * tC (OptiReduce, section 3.2.1). tC is the usual time
// of the stage. It follows the median of all ranks, because a single rank may
// have bad luck. x follows the data that came just after the end: a short wait
// is enough if it loses nothing. Not thread-safe.
//
// (In the paper x follows all loss. But no wait is long enough for data that a
// full link holds back or drops, so x would stay at its maximum where an early
// end gains the most.)
class EarlyTimeout {
 public:
  static constexpr double kShareFirst = 0.10;
  static constexpr double kShareMin = 0.01;
  static constexpr double kShareMax = 0.50;
  // A late share above kLateShareHigh doubles x. One below kLateShareLow lowers
  // x by 0.01.
  static constexpr double kLateShareHigh = 0.001;
  static constexpr double kLateShareLow = 0.0001;
  // The weight of the old average in the new one.
  static constexpr double kInertia = 0.95;

  // `fixedShare` fixes x; if it is zero, x is learned. REQUIRES ranks > 0.
  explicit EarlyTimeout(int ranks, double fixedShare = 0)
      : samples_(ranks),
        learns_(fixedShare == 0),
        share_(learns_ ? kShareFirst : fixedShare) {
    UBT_REQUIRE(ranks > 0);
  }

  // The stage took this long at a rank (any rank, this one included). A stage
  // that ended early counts with the time that it would have taken. A newer
  // sample of a rank replaces the older one.
  void sample(int rank, Duration took);
  // An op has returned at this rank.
  void returned();
  // An op is done on all ranks. `lateShare`: OpSample::Stage::lateShare.
  void done(double lateShare);

  // tC; zero while nothing has been learned.
  Duration stage() const { return stage_; }
  // x.
  double share() const { return share_; }
  // How long to wait: x * tC.
  Duration patience() const;

 private:
  std::vector<Duration> samples_;  // by rank; zero: none
  Duration stage_{0};
  const bool learns_;
  double share_;
};

}  // namespace ubt
