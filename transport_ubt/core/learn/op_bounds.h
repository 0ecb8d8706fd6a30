// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/learn/paper_stop.h"
#include "transport_ubt/core/learn/stop_rule.h"

namespace ubt {

// The longest that one stage may take of a call's time: it leaves the others
// their share. Groups have a stage more.
inline Duration mostOfStage(Duration limit, bool grouped) {
  return limit / (grouped ? 3 : 2);
}

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
  // The paper's loops replace the rules below, too. Contributions and results
  // count from the start of the clock, sums of other groups from the own one's.
  bool paper = false;
  PaperStop paperScatter;
  PaperStop paperExchange;
  PaperStop paperResults;
  // Rules for contributions, for sums of other groups, and for results.
  bool cuts = true;  // false: nothing is left out
  StopRule stop;
  StopRule exchangeStop;
  StopRule resultsStop;
  // The share of the contributions to the own shard that may be left out
  // because ranks are absent.
  double absentMost = 0;

  // A call asks for results after this time. Before that, owners have none.
  Duration usual() const {
    return warmup   ? limit
           : byHand ? scatter + exchange
           : paper  ? paperScatter.bound
                    : std::max(stop.usual, resultsStop.usual);
  }
};

}  // namespace ubt
