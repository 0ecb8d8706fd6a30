// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// What an op that has returned tells the loops that learn across ops.
struct OpSample {
  // Of one stage. The stages overlap: results come while slots are still open.
  // So that of the broadcast stage is what it took beyond the scatter stage, or
  // beyond local entry.
  struct Stage {
    // Zero: it was not complete.
    Duration took{0};
    // Of a stage that was not complete, but nearly. Zero: it was complete, or
    // far from it.
    Duration wouldTake{0};
    // A sample of tC: `took`, or the bound if the stage ended at it, or what it
    // would have taken if it ended early. Zero: there is none.
    Duration sample{0};
    Duration bound{0};
    // The share of its bytes that had not come when it ended, from ranks of
    // which anything had.
    double loss = 0;
    // The share of its bytes that came after its end, if that is most of what
    // it missed: a little more patience would have had it.
    double haste = 0;
    // Whether it ended at its bound, far from complete, and missed what was on
    // its way.
    bool cutShort = false;
  };

  uint64_t bytes = 0;
  bool hierarchical = false;
  bool warmup = false;
  Stage scatter;
  Stage exchange;  // its loss, haste and sample are never set
  Stage broadcast;
};

}  // namespace ubt
