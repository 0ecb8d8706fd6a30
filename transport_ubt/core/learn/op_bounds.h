// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/learn/paper_stop.h"
#include "transport_ubt/core/learn/stop_rule.h"

namespace ubt {

// The longest that one stage may take of a call's time: it leaves the others
// their share. Groups have a stage more.
inline Duration mostOfStage(Duration limit, bool grouped) {
  return limit / (grouped ? 3 : 2);
}

// When the stages of one op may end, as this rank sees it. Each rule uses
// `limit` and its own members.
struct OpBounds {
  enum class Rule : uint8_t {
    kExact,    // no stage ends before its data is here, as in warm-up
    kByHand,   // at fixed times
    kPaper,    // by the paper's loops
    kLearned,  // by StopRule
  };
  Rule rule = Rule::kExact;
  Duration limit{0};  // since local entry: the call's timeout
  // By hand: from the start of the clock. Each stage's time is added to those
  // of the stages before it. `exchange` is zero without groups.
  Duration scatter{0};
  Duration exchange{0};
  Duration broadcast{0};
  // The paper's loops. Contributions and results count from the start of the
  // clock, sums of other groups from the own one's.
  PaperStop paperScatter;
  PaperStop paperExchange;
  PaperStop paperResults;
  // Learned: for contributions, for sums of other groups, and for results.
  bool cuts = true;  // false: nothing is left out
  StopRule stop;
  StopRule exchangeStop;
  StopRule resultsStop;
  // The share of the contributions to the own shard that may be left out
  // because ranks are absent.
  double absentMost = 0;

  // After this time, owners should have results. In warm-up: the timeout.
  Duration usual() const {
    switch (rule) {
      case Rule::kExact:
        return limit;
      case Rule::kByHand:
        return scatter + exchange;
      case Rule::kPaper:
        return paperScatter.bound;
      case Rule::kLearned:
        return std::max(stop.usual, resultsStop.usual);
    }
    return limit;
  }

  bool exact() const { return rule == Rule::kExact; }
  bool byHand() const { return rule == Rule::kByHand; }
  bool paper() const { return rule == Rule::kPaper; }
};

}  // namespace ubt
