// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/require.h"

namespace ubt {

// Learns how long to wait, in one stage of one size class, for what is missing
// once most has come: a share x of what the stage takes, tC (OptiReduce,
// section 3.2.1). What one rank measures may be its own bad luck: tC follows
// the median of all ranks. x follows what came just after the end: little
// patience is enough where nothing is lost by it. (In the paper it follows all
// loss. But for what a full link holds back or drops, no patience is enough,
// and x would stay at its most where there is most to be gained.) Not
// thread-safe.
class EarlyTimeout {
 public:
  static constexpr double kShareFirst = 0.10;
  static constexpr double kShareMin = 0.01;
  static constexpr double kShareMax = 0.50;
  // Haste beyond the first doubles the share, haste below the second takes a
  // point off it.
  static constexpr double kHasteHigh = 0.001;
  static constexpr double kHasteLow = 0.0001;
  // Of the old average in the new one.
  static constexpr double kInertia = 0.95;

  // `fixedShare`: x, for good; zero: it is learned. REQUIRES ranks > 0.
  explicit EarlyTimeout(int ranks, double fixedShare = 0)
      : samples_(ranks),
        learns_(fixedShare == 0),
        share_(learns_ ? kShareFirst : fixedShare) {
    UBT_REQUIRE(ranks > 0);
  }

  // What a rank, maybe the own, says the stage took or, of one that ended
  // early, would have taken. Its newest word counts.
  void sample(int rank, Duration took);
  // An op has returned here.
  void returned();
  // An op is done everywhere, in which this share, 0 to 1, of the stage's bytes
  // was missed by haste (OpSample::Stage::haste).
  void done(double haste);

  // tC; zero while nothing has been learned.
  Duration stage() const { return stage_; }
  // x.
  double share() const { return share_; }
  // How long to wait: x of tC.
  Duration patience() const;

 private:
  std::vector<Duration> samples_;  // by rank; zero: none
  Duration stage_{0};
  const bool learns_;
  double share_;
};

}  // namespace ubt
