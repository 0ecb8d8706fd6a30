// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// Which part of its window a socket may use, because the path loses data. If
// the network loses too much of a window, the part shrinks by the share that
// got lost, at least by kReduction. In the next kReturn windows, or in
// `returnMin` if that is longer, it returns to its value before the loss, first
// fast and then slowly. From there on it grows faster and faster, to 1: the
// curve of CUBIC (RFC 9438, section 4.2), by windows in place of time.
//
//     too much   losses > max(1, expected + 2 sqrt(expected))
//     expected = (tolerated + 2 x base loss) x all
//
// A loss is a train or a part of it, `all` the number of such parts in a
// window. The root is the standard deviation of a random number of losses. A
// window that lost more than expected, but not too much, tells nothing.
//
// The base loss has other causes than the window. A path that delivers only a
// part of a window loses the rest: a window that is smaller by a factor f would
// lose 1 - (1 - share) / f. Loss beyond that, after reductions to kSmall of the
// first window that lost data, is base loss. Not thread-safe.
class LossResponse {
 public:
  static constexpr double kReduction = 0.2;
  static constexpr int kReturn = 4;
  static constexpr double kSmall = 0.5;
  // A part below this would only take longer to return.
  static constexpr double kPartMin = 1.0 / 32;

  // Each return tests the queue, and may cost loss. Without `hasBase` no loss
  // is base loss. REQUIRES 0 < returnMin, 0 < tolerated < 1.
  LossResponse(Duration returnMin, double tolerated, bool hasBase = true)
      : returnMin_(returnMin), tolerated_(tolerated), hasBase_(hasBase) {}

  struct Window {
    uint64_t came = 0;  // bytes
    uint64_t lost = 0;
    double losses = 0;  // trains, or parts of them
    Duration took{0};   // without pauses

    // REQUIRES 0 < came + lost.
    double share() const {
      return static_cast<double>(lost) / static_cast<double>(came + lost);
    }
  };

  // kClean: at most the tolerated share was lost. kUnclear: more, but that may
  // be chance. kLossy: too much was lost.
  enum class Verdict : uint8_t { kClean, kUnclear, kLossy };
  // REQUIRES 0 < came + lost.
  Verdict judge(const Window& window) const;
  // A window passed, and the part returns. REQUIRES 0 < took, 0 < came + lost.
  void passed(const Window& window);
  // The verdict of a window is unclear, and the part stays. REQUIRES 0 < came +
  // lost.
  void stay(const Window& window) { learnBase(window.share()); }
  // A window was lossy, and the part shrinks. REQUIRES 0 < came + lost.
  void reduce(const Window& window);

  // From kPartMin to 1.
  double part() const;

 private:
  // The weight of a window in the base loss: if it lost more, and if less.
  // Windows without loss are common even if the mean loss is high.
  static constexpr double kRise = 1.0 / 4;
  static constexpr double kFall = 1.0 / 8;
  // Not even the smallest part explains a greater share. It is no base loss,
  // either: an outage may end, and to tolerate it would flood a dead path.
  static constexpr double kOutage = 1 - kPartMin;

  double tolerated() const { return tolerated_ + 2 * baseLoss_; }
  double unexplained(double share) const;
  void learnBase(double share);

  Duration returnMin_;
  double tolerated_;
  bool hasBase_;
  // The last reduction, the part before it, and how far the return has come, in
  // units of kReturn windows.
  double reduction_ = 0;
  double peak_ = 1;
  double returned_ = 1;
  // The first of the reductions since the part last returned: the part before
  // it, and the share that got lost, at most kOutage.
  double firstPart_ = 1;
  double firstShare_ = 0;
  double baseLoss_ = 0;
};

}  // namespace ubt
