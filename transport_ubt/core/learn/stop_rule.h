// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// When a stage of one op stops waiting. Data comes late for two causes. A rank
// that has entered sends late because of the network; a rank that has not
// entered is absent, because it computes late. Each cause has its end:
//
//   base    = max(usual, q - t0)       q: when half of the others were through
//   network = t0 + max(x base, base + margin)
//   absent  = t0 + base + absentWait()
//
// Absent ranks are cut only if that pays (LateEntries) and the budget covers
// them (AbsenceBudget).
//
// t0 is when more than half of the ranks had entered. A network that is slow
// for all ranks delays q, so nothing is cut there. The network's time begins
// again when a rank enters after t0, so that its data has that time, too.
struct StopRule {
  // Hosts delay programs by up to this long: by scheduling, interrupts and
  // interpreters. A rank that enters even later computes longer.
  static constexpr Duration kJitter = std::chrono::milliseconds(10);

  Duration usual{0};   // UsualTimes::usual()
  double factor = 1;   // x (CutFactor)
  Duration margin{0};  // the least time that a cut should save

  // The time that a stage should take. REQUIRES t0 and q are known.
  Duration base(TimePoint t0, TimePoint q) const {
    return std::max(usual, q - t0);
  }
  // The ends. kNever while t0 or q is not known. `lastEntry`: when the last
  // rank that has entered did.
  TimePoint networkEnd(TimePoint t0, TimePoint q, TimePoint lastEntry) const {
    if (t0 == kNever || q == kNever) {
      return kNever;
    }
    return std::max(t0, lastEntry) + most(base(t0, q));
  }
  // If contributions will end later than this, results come first: half of the
  // time between the base and the end is used up. REQUIRES t0 is known; while q
  // is not, `q` is t0.
  TimePoint resultsFirstAt(TimePoint t0,
                           TimePoint q,
                           TimePoint lastEntry) const {
    const Duration stage = base(t0, q);
    return std::max(t0, lastEntry) + (stage + most(stage)) / 2;
  }
  // How long absent ranks have after the base time.
  Duration absentWait() const { return std::max(margin, kJitter); }
  TimePoint absentEnd(TimePoint t0, TimePoint q) const {
    return t0 == kNever || q == kNever ? kNever
                                       : t0 + base(t0, q) + absentWait();
  }

 private:
  // The longest that data has, after it could begin to flow.
  Duration most(Duration stage) const {
    return std::max(wholeNanoseconds(stage * factor), stage + margin);
  }
};

}  // namespace ubt
