// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// Which part of its window a socket may use, because the path loses data. If
// the network loses more than kTolerated of a window, the part shrinks by
// kReduction, once a round trip. In the next kReturn round trips, but at least
// kReturnMin (each return tests the queue), it returns to its value before the
// loss, first fast and then slowly. From there on it grows faster and faster,
// to 1: the curve of CUBIC (RFC 9438, section 4.2).
//
// If kInVain reductions in a row only lessen what arrives, the window is not
// the cause of the loss. They are undone, and twice that loss is tolerated
// until it has halved. Not thread-safe.
class LossResponse {
 public:
  static constexpr double kTolerated = 0.02;
  static constexpr double kReduction = 0.2;
  static constexpr int kReturn = 16;
  static constexpr Duration kReturnMin = std::chrono::milliseconds(20);
  static constexpr int kInVain = 4;

  // A whole window has passed, and this share of it got lost. `round`: the
  // round trip.
  void windowPassed(TimePoint now, Duration round, double lostShare);

  // From 0 to 1.
  double part(TimePoint now, Duration round) const;

 private:
  void reduce(TimePoint now, Duration round, double lostShare);

  // The last reduction, and the part before it. kNever: the part is 1.
  TimePoint reducedAt_ = kNever;
  double peak_ = 1;
  // Reductions in a row, up to kInVain. Before the first of them: the part, and
  // how much of the whole window arrived.
  int reductions_ = 0;
  double firstPeak_ = 1;
  double firstDelivered_ = 0;
  // Loss that reductions did not lessen.
  double ignored_ = 0;
};

}  // namespace ubt
