// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/learn/stop_rule.h"

namespace ubt {

// When the stages of one op may end, as this rank sees it.
struct OpBounds {
  bool warmup = true;  // the op is exact: no stage ends before its data is here
  Duration limit{0};   // since local entry: the call's timeout
  // Bounds by hand replace all rules below. They count from the start of the
  // clock. Each stage's is added to those of the stages before it. `exchange`
  // is zero without groups.
  bool byHand = false;
  Duration scatter{0};
  Duration exchange{0};
  Duration broadcast{0};
  // Rules for contributions, for sums of other groups, and for results.
  bool cuts = true;  // false: nothing is left out
  StopRule stop;
  StopRule exchangeStop;
  StopRule resultsStop;
  // The share of the contributions to the own shard that may be left out
  // because ranks are absent.
  double absentMost = 0;
};

}  // namespace ubt
