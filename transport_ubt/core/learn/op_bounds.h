// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/learn/stop_rule.h"

namespace ubt {

// How long the stages of one op may take, as this rank sees it.
struct OpBounds {
  bool warmup = true;
  Duration scatter{0};    // since the owner's start (setScatterDeadline)
  Duration exchange{0};   // added to scatter; zero without groups
  Duration broadcast{0};  // added to both
  // The end of a call that does not need every result, since the start of the
  // clock (setEndDeadline).
  Duration end{0};
  Duration limit{0};  // since local entry: the call's timeout
  // Loops::kMeasured: the rules for contributions, for sums of other groups,
  // and for results. A bound by hand replaces them: then `scatter`, `exchange`
  // and `broadcast` count.
  bool byHand = false;
  bool cuts = true;  // false: nothing is left out
  StopRule stop;
  StopRule exchangeStop;
  StopRule resultsStop;
  // The share of the contributions to the own shard that may be left out
  // because ranks are absent.
  double absentMost = 0;
  // How long to wait for the last data of a stage (StageProgress). Zero: until
  // the bound.
  Duration scatterPatience{0};
  Duration broadcastPatience{0};
};

}  // namespace ubt
