// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/learn/op_bounds.h"
#include "transport_ubt/core/learn/op_sample.h"
#include "transport_ubt/core/learn/paper_stage.h"
#include "transport_ubt/core/learn/stop_strategy.h"
#include "transport_ubt/core/learn/wait_share.h"
#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/core/wire/options.h"

namespace ubt {

// The loops as published (OptiReduce, NSDI'25, section 3.2), to compare the
// measured ones (StopLearning) with them. Each size class has its own tB, tC
// and x. Its first ops are exact; nothing is borrowed from other classes. The
// budget of cuts does not apply. The paper's dynamic incast is Incast. Its rate
// control after TIMELY is left out, because it does not suit hosts that notice
// datagrams late (docs/results/goals.md). Not thread-safe.
class PaperBounds : public StopStrategy {
 public:
  // `options` must outlive this.
  explicit PaperBounds(const Options& options) : options_(options) {}

  void begins(TimePoint /*now*/, const OpShape& /*shape*/) override {}
  void ends() override {}
  OpBounds boundsFor(const OpShape& shape,
                     Duration lateness,
                     Duration limit) override;
  void returned(const OpSample& op) override;
  void done(const OpSample& /*op*/) override {}

 private:
  struct Times {
    uint32_t ops = 0;
    PaperStage scatter;
    PaperStage exchange;
    PaperStage results;
    WaitShare share;
  };
  using Classes = std::map<uint32_t, Times>;  // by size class

  bool isWarm(const Times& times) const {
    return times.ops >= options_.warmupOps &&
           (times.scatter.any() || times.results.any());
  }

  const Options& options_;
  std::array<Classes, 2> classes_;  // of plain and hierarchical ops
};

}  // namespace ubt
