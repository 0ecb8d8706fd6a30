// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// When one stage of an op ends by the loops of the paper (OptiReduce, NSDI'25,
// section 3.2): after tB, or x tC after the last-percentile packets of all
// senders, whichever comes first. Ranks that have not entered send no such
// packets, so tB ends the stage.
struct PaperStop {
  Duration bound{0};  // tB; zero: unknown, so the stage waits for all data
  Duration grace{0};  // x tC

  // `start`: of the stage; `marked`: when such a packet of every sender was
  // here. kNever: not yet.
  TimePoint end(TimePoint start, TimePoint marked) const {
    if (start == kNever || bound == Duration{0}) {
      return kNever;
    }
    const TimePoint latest = start + bound;
    return marked == kNever ? latest
                            : std::min(latest, std::max(start, marked) + grace);
  }
};

}  // namespace ubt
