// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/op_sampling.h"

#include <algorithm>

namespace ubt {
namespace {

// When a member's contributions were complete here, since the start of the
// clock; negative: it is unknown when they would have been.
Duration completedAfter(const OpState& op, int rank) {
  const StageProgress& progress = op.scatterRun.progress();
  const TimePoint start = op.clock.startedAt();
  if (progress.hasEnded(rank)) {
    return std::max(progress.lastArrival(rank) - start, Duration{1});
  }
  const TimePoint end = progress.projectedEnd(rank);
  if (end != kNever) {
    return std::max(end - start, Duration{1});
  }
  // A rank of which nothing came would have taken as long as the others.
  const TimePoint q = op.attendance.halfThroughAt(Stage::kScatter);
  return op.attendance.hasEntered(rank) && q != kNever
             ? std::max(op.attendance.enteredAt(rank) - start, Duration{0}) +
                   std::max(q - start, Duration{1})
             : Duration{-1};
}

void sampleSenders(const OpState& op, OpSample* sample) {
  const OpRanks& ranks = op.ranks;
  sample->senders.resize(ranks.size());
  // The own contribution is here when the caller enters.
  if (op.call.entered()) {
    sample->senders[ranks.rank()].took =
        std::max(op.clock.enteredAt() - op.clock.startedAt(), Duration{1});
  }
  for (int rank = 0; rank < ranks.size(); rank++) {
    if (rank != ranks.rank() && ranks.isMember(rank) && op.owned.slots() > 0) {
      sample->senders[rank] = {completedAfter(op, rank),
                               !op.scatterRun.progress().hasEnded(rank)};
    }
  }
}

void sampleLastEntry(const OpState& op, OpSample* sample) {
  const TimePoint start = op.clock.startedAt();
  const TimePoint q = op.attendance.halfThroughAt(Stage::kScatter);
  if (q != kNever) {
    sample->lastEntry =
        op.attendance.lastEntry() - start - op.bounds.stop.base(start, q);
  }
}

void sampleResults(const OpState& op, OpSample* sample) {
  const TimePoint start = op.clock.startedAt();
  const StageProgress& progress = op.broadcastRun.progress();
  if (op.resultsAt != kNever) {
    sample->resultsTook = std::max(op.resultsAt - start, Duration{1});
  } else if (op.call.endedBy() == EndedBy::kBound && progress.came() > 0) {
    sample->resultsCut = true;
    sample->resultsTook = std::max(progress.projected(start), Duration{1});
  }
}

void sampleCuts(const OpState& op, OpSample* sample) {
  // Only these owners report to this rank; each has a slot of each member.
  const double owners = op.ranks.ownersHeard();
  const double slots = std::max<double>(1, op.layout.slots(Shard(0)));
  sample->cutLate = (op.cut.late + op.cut.lateByOthers) /
                    (owners * op.ranks.members() * slots);
  sample->cutResults = (op.cut.results + op.cut.resultsByOthers) /
                       (owners * op.ranks.size() * slots);
  sample->cutAbsent = static_cast<double>(op.cut.absent) / op.ranks.members();
}

OpSample::End endOf(const StageRun& run,
                    TimePoint from,
                    TimePoint until,
                    Duration bound) {
  return {std::max(until - from, Duration{1}),
          bound,
          run.progress().came(),
          run.progress().owed()};
}

// The lengths of the stages, and the slots that were missing at their ends.
void sampleEnds(const OpState& op, OpSample* sample) {
  const OpBounds& bounds = op.bounds;
  if (op.owned.slots() > 0 && op.owned.sum().closed()) {
    sample->scatterEnd =
        endOf(op.scatterRun,
              op.clock.startedAt(),
              op.scatterRun.closedAt,
              bounds.byHand() ? bounds.scatter : bounds.paperScatter.bound);
  }
  if (op.ranks.grouped() && op.owned.exchanged()) {
    sample->exchangeEnd =
        endOf(op.exchangeRun,
              op.scatterRun.closedAt,
              op.exchangeRun.closedAt,
              bounds.byHand() ? bounds.exchange : bounds.paperExchange.bound);
  }
  const TimePoint until = op.resultsAt != kNever ? op.resultsAt
                          : op.call.endedBy() == EndedBy::kBound
                              ? op.broadcastRun.closedAt
                              : kNever;
  if (op.call.finished() && until != kNever) {
    sample->resultsEnd =
        endOf(op.broadcastRun,
              op.resultsStart(),
              until,
              bounds.byHand() ? op.limit() : bounds.paperResults.bound);
  }
}

}  // namespace

OpSample sampleOf(const OpState& op) {
  OpSample sample;
  sample.bytes = op.setup.shape.bytes();
  sample.hierarchical = op.setup.shape.hierarchical();
  sample.warmup = op.bounds.exact();
  sample.lost = op.scatterRun.lostShare() + op.broadcastRun.lostShare();
  if (!op.clock.runs()) {
    return sample;
  }
  sampleSenders(op, &sample);
  sampleLastEntry(op, &sample);
  sample.exchangeTook = op.exchangeRun.took;
  sampleResults(op, &sample);
  sampleCuts(op, &sample);
  sampleEnds(op, &sample);
  return sample;
}

}  // namespace ubt
