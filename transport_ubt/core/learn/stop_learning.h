// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/learn/absence_budget.h"
#include "transport_ubt/core/learn/budget_split.h"
#include "transport_ubt/core/learn/cut_factor.h"
#include "transport_ubt/core/learn/late_entries.h"
#include "transport_ubt/core/learn/op_bounds.h"
#include "transport_ubt/core/learn/op_sample.h"
#include "transport_ubt/core/learn/step_spacing.h"
#include "transport_ubt/core/learn/stop_strategy.h"
#include "transport_ubt/core/learn/usual_times.h"
#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/core/wire/options.h"

namespace ubt {

// The measured loops: the rules that end stages are StopRule. Usual times
// belong to a size class. The context has one budget and one spacing of steps,
// and an x for each stage. Ops are exact until some class is warm. A class
// without times borrows those of its neighbours. Not thread-safe.
class StopLearning : public StopStrategy {
 public:
  // `options` must outlive this.
  StopLearning(const Options& options, int ranks)
      : options_(options),
        ranks_(ranks),
        stages_(options.has(Loop::kSplit),
                options.needsEveryResult() ? 0 : options.cutBudget / 2),
        contributions_(options.has(Loop::kSplit)) {}

  void begins(TimePoint now, const OpShape& shape) override;
  void ends() override { spacing_.ends(); }
  OpBounds boundsFor(const OpShape& shape,
                     Duration lateness,
                     Duration limit) override;
  void returned(const OpSample& op) override;
  void done(const OpSample& op) override;

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
  AbsenceBudget absence_;
  LateEntries lateEntries_;
  BudgetSplit stages_;         // contributions, results
  BudgetSplit contributions_;  // delayed by the network, of absent ranks
  StepSpacing spacing_;
};

}  // namespace ubt
