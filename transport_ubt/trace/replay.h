// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/trace/stage_record.h"

namespace ubt {

// The stages of one op at all its owners, by rank.
using RecordedOp = std::vector<StageRecord>;

// The ops in `records` that have a record of every rank and whose data is
// complete everywhere, by context, in the order of each context's records.
std::vector<std::vector<RecordedOp>> opsOf(
    const std::vector<StageRecord>& records);

// The result of a rule for the recorded ops of one context: the times of stages
// and the shares that were cut. Each op begins when it began in the record.
struct Replayed {
  std::vector<Duration> took;  // by op: of its slowest owner
  // Shares of all contributions, by cause.
  double cutLate = 0;
  double cutAbsent = 0;

  Duration mean() const;
  // The mean of the slowest tenth.
  Duration slowTenth() const;
};

struct ReplayOptions {
  double budget = 0.025;  // cut_budget
  Duration lateness{0};   // of hosts
  size_t warmupOps = 20;  // that are exact, and not in the results
};

// Nothing is left out.
Replayed replayExact(const std::vector<RecordedOp>& ops,
                     const ReplayOptions& options);
// The rule (StopRule) with all that it learns, except the spacing of steps.
Replayed replayRule(const std::vector<RecordedOp>& ops,
                    const ReplayOptions& options);
// The same with a constant x, and without a budget for absent ranks.
Replayed replayFixed(const std::vector<RecordedOp>& ops,
                     const ReplayOptions& options,
                     double factor);
// The constant x that cuts `share` of all contributions, known in hindsight.
double bestFactor(const std::vector<RecordedOp>& ops,
                  const ReplayOptions& options,
                  double share);

}  // namespace ubt
