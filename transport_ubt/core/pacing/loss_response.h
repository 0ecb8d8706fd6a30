// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// Which part of its window a socket may use, because the path loses data. If
// the network loses more than kTolerated of a window, the part shrinks by the
// share that got lost, at least by kReduction. In the next kReturn windows, or
// in `returnMin` if that is longer, it returns to its value before the loss,
// first fast and then slowly. From there on it grows faster and faster, to 1:
// the curve of CUBIC (RFC 9438, section 4.2), by windows in place of time.
//
// If less arrives in a time after kInVain reductions in a row, the window is
// not the cause of the loss. They are undone, and twice that loss is tolerated
// until it has halved. Not thread-safe.
class LossResponse {
 public:
  static constexpr double kTolerated = 0.02;
  static constexpr double kReduction = 0.2;
  static constexpr int kReturn = 4;
  static constexpr int kInVain = 4;

  // Each return tests the queue, and may cost loss. REQUIRES 0 < returnMin.
  explicit LossResponse(Duration returnMin) : returnMin_(returnMin) {}

  // A whole window has passed: these bytes came and those got lost. `took`:
  // the time for that, without pauses. REQUIRES 0 < took, 0 < came + lost.
  void windowPassed(Duration took, uint64_t came, uint64_t lost);

  // From 0 to 1.
  double part() const;

 private:
  void reduce(double lostShare, double rate);

  Duration returnMin_;
  // The last reduction, the part before it, and how far the return has come, in
  // units of kReturn windows.
  double reduction_ = 0;
  double peak_ = 1;
  double returned_ = 1;
  // Reductions in a row, up to kInVain. Before the first of them: the part, and
  // the bytes that arrived in a nanosecond.
  int reductions_ = 0;
  double firstPeak_ = 1;
  double firstRate_ = 0;
  // Loss that reductions did not lessen.
  double ignored_ = 0;
};

}  // namespace ubt
