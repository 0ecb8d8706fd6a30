// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/learn/absence_budget.h"
#include "transport_ubt/core/learn/budget_split.h"
#include "transport_ubt/core/learn/cut_factor.h"
#include "transport_ubt/core/learn/least_wait.h"
#include "transport_ubt/core/learn/op_bounds.h"
#include "transport_ubt/core/learn/op_sample.h"
#include "transport_ubt/core/learn/step_spacing.h"
#include "transport_ubt/core/learn/usual_times.h"
#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/core/wire/options.h"

namespace ubt {

// Learns the rules that end stages (StopRule) from one op for later ones. Usual
// times belong to a size class; x, the budget and the spacing of steps to the
// context, as are the least waits. The first ops of a class are exact, and a
// class without times borrows those of its neighbours. Not thread-safe.
class StopLearning {
 public:
  // `options` must outlive this.
  StopLearning(const Options& options, int ranks)
      : options_(options), ranks_(ranks) {}

  // An op begins here, and is over.
  void begins(TimePoint now, const OpShape& shape);
  void ends() { spacing_.ends(); }

  // The rules of an op. `lateness`: of this host. `limit`: the longest time
  // that the call may take.
  OpBounds boundsFor(const OpShape& shape, Duration lateness, Duration limit);

  // An op has returned here with a result.
  void returned(const OpSample& op);
  // It is done everywhere: all ranks have entered it.
  void done(const OpSample& op);

  double factor() const { return scatterFactor_.value(); }

 private:
  struct Times {
    explicit Times(int ranks) : scatter(ranks), exchange(1), results(1) {}

    uint32_t ops = 0;
    UsualTimes scatter;
    UsualTimes exchange;
    UsualTimes results;
  };
  struct Usual {
    Duration scatter{0};  // zero: unknown
    Duration exchange{0};
    Duration results{0};
  };
  using Classes = std::map<uint32_t, Times>;  // by size class

  Classes& classesOf(bool hierarchical) {
    return classes_[hierarchical ? 1 : 0];
  }
  Times& timesOf(const OpSample& op);
  bool isWarm(const Times& times) const {
    return times.ops >= options_.warmupOps && times.scatter.any();
  }
  // At most `limit`.
  Usual usual(const OpShape& shape, Duration limit);
  // The share of contributions that may be cut, and of results.
  double forContributions() const {
    return stages_.forFirst(options_.cutBudget);
  }
  double forResults() const { return stages_.forSecond(options_.cutBudget); }

  const Options& options_;
  const int ranks_;
  std::array<Classes, 2> classes_;  // of plain and hierarchical ops
  CutFactor scatterFactor_;
  CutFactor resultsFactor_;
  LeastWait scatterWait_;
  LeastWait resultsWait_;
  LeastWait absentWait_;
  AbsenceBudget absence_;
  BudgetSplit stages_;         // contributions, results
  BudgetSplit contributions_;  // delayed by the network, of absent ranks
  StepSpacing spacing_;
};

}  // namespace ubt
