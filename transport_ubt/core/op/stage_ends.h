// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/learn/op_bounds.h"
#include "transport_ubt/core/op/op_report.h"
#include "transport_ubt/core/op/op_state.h"
#include "transport_ubt/core/op/stage_run.h"

namespace ubt {

// When the stages of an op stop waiting: at bounds by hand, by the paper's
// loops, or by StopRule. A stage without missing data has no end here.
//
// The ends change with the op. They only say when; Op ends the stages. Not
// thread-safe.
class StageEnds {
 public:
  // `op` must outlive this.
  explicit StageEnds(const OpState& op) : op_(op) {}

  // Each is kNever if the stage has no end, or if that is not known yet. It is
  // in the past if the stage may end at once.
  //
  // Contributions: when nothing more can come, or the missing ones may be left
  // out.
  TimePoint scatter() const;
  // Other groups' sums. An op that needs every result waits for all of them.
  TimePoint exchange() const;
  // Results, if the op does not need every one.
  TimePoint results() const;
  TimePoint earliest() const {
    return std::min({scatter(), exchange(), results()});
  }

  // Nothing more comes, and some slot lacks a majority, although other ranks
  // are not through either: most was lost.
  bool mostIsLost() const;
  // Whether results should come before contributions: the missing contributions
  // will be late even if nothing else comes from now on. Results cannot be left
  // out, and contributions can.
  bool wantsResults() const;

  // Fills in the bounds of stages: the longest that they would have waited for
  // data that was on its way.
  void report(OpReport* report) const;

 private:
  TimePoint learnedScatter() const;
  bool mayEndScatter() const;
  TimePoint overAt(const StageRun& run, TimePoint least) const;
  TimePoint networkEnd() const;
  TimePoint absentEnd() const;
  Duration mostWait() const {
    return mostOfStage(op_.bounds.limit, op_.ranks.grouped());
  }
  void reportLearned(OpReport* report) const;

  const OpState& op_;
};

}  // namespace ubt
