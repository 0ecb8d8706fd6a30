// SPDX-License-Identifier: Apache-2.0
//
// The end of an op's call, and its report.

#include <algorithm>
#include <cstring>
#include <utility>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/op/op.h"

namespace ubt {

Form Op::resultForm(Shard shard) const {
  return shard == state_.ranks.shard()
             ? state_.owned.sum().form()
             : state_.broadcast.form(shard).value_or(
                   state_.bucket.contributed()[shard]);
}

// Settles results and sums, as settleScatter() settles contributions.
void Op::settleResults() {
  for (int rank = 0; rank < state_.ranks.size(); rank++) {
    if (rank == state_.ranks.rank() || !state_.ranks.takesSlots(rank)) {
      continue;
    }
    StageRun& run = state_.runOf(rank, Stage::kBroadcast);
    const Shard shard = state_.ranks.isMember(rank) ? state_.ranks.shardOf(rank)
                                                    : state_.ranks.shard();
    const bool silent =
        !state_.attendance.isDone(rank) && run.bytes(rank).received == 0 &&
        !run.anyTurnedAway(rank) &&
        state_.setup.host->lastHeard(rank) < state_.clock.enteredAt();
    if (!silent && state_.isCut(run, rank)) {
      state_.cut.results += run.progress().owed(rank);
    }
    run.settle(rank,
               notStored(run.turnedAway(rank), state_.received(rank), shard),
               silent                    ? StageRun::Cause::kAbsent
               : state_.isCut(run, rank) ? StageRun::Cause::kCut
                                         : StageRun::Cause::kLost);
  }
}

std::vector<Duration> Op::lateBy(TimePoint now) const {
  std::vector<Duration> late(state_.ranks.size(), Duration{0});
  for (int rank = 0; rank < state_.ranks.size(); rank++) {
    if (state_.clock.runs() && rank != state_.ranks.rank()) {
      const TimePoint entered =
          std::min(now, state_.attendance.enteredAt(rank));
      late[rank] = std::max(entered - state_.clock.startedAt(), Duration{0});
    }
  }
  return late;
}

void Op::noteTimes(TimePoint now) {
  trace_->startedAt = state_.clock.startedAt();
  trace_->calledAt = state_.clock.enteredAt();
  if (state_.scatterRun.closedAt != TimePoint{}) {
    trace_->closedAt = state_.scatterRun.closedAt;
  }
  const StageProgress& results = state_.broadcastRun.progress();
  for (int rank = 0; rank < state_.ranks.size(); rank++) {
    if (results.owed(rank) == 0 && results.lastArrival(rank) != TimePoint{}) {
      trace_->results[rank] = results.lastArrival(rank);
    }
  }
  trace_->returnedAt = now;
}

OpReport Op::leave(TimePoint now) {
  UBT_REQUIRE(state_.call.finished() && !state_.call.returned());
  OpReport report;
  report.op = state_.setup.id;
  report.bounded = !state_.bounds.exact();
  report.endedBy = state_.call.endedBy();
  report.scatterExpired = state_.scatterRun.expired;
  report.elapsed = now - state_.clock.enteredAt();
  if (trace_ != nullptr) {
    noteTimes(now);
    report.trace = std::move(trace_);
  }
  report.lateBy = lateBy(now);
  report.waited = state_.clock.waited(now);
  report.limit = state_.limit();
  ends_.report(&report);
  const size_t elementBytes = elementSize(state_.setup.shape.type);
  const Shard own = state_.ranks.shard();
  report.ownShard = {state_.layout.shardOffset(own) / elementBytes,
                     state_.layout.shardSize(own) / elementBytes};
  report.contributed = state_.bucket.contributed();
  report.shardElements = state_.layout.shardSize(Shard(0)) / elementBytes;
  report.slotElements =
      state_.owned.slots() > 0 ? state_.layout.slotElements(own, 0) : 0;
  state_.call.leave();
  settleResults();
  if (state_.bucket.here()) {
    if (!state_.call.failed()) {
      report.filled = state_.broadcast.zeroMissing(state_.setup.shape.type);
      for (const OpReport::Range& range : report.filled) {
        report.driftElements += range.count;
      }
    }
    report.pairsExpected =
        static_cast<uint64_t>(state_.ranks.size()) * state_.layout.elements();
    report.pairsMissing = state_.broadcast.pairsMissing() +
                          report.driftElements * (state_.ranks.size() - 1);
    for (uint32_t slot = 0; slot < state_.owned.slots(); slot++) {
      report.pairsMissing +=
          static_cast<uint64_t>(state_.ranks.size() -
                                state_.owned.contributors(slot)) *
          state_.layout.slotElements(own, slot);
    }
    reportExchange(&report);
    if (state_.call.endedBy() == EndedBy::kComplete &&
        report.pairsMissing > 0) {
      report.endedBy = EndedBy::kCut;
    }
    report.zeroedElements = state_.owned.sum().zeroedElements();
    if (!state_.call.failed()) {
      if (!state_.owned.hasRoom() &&
          !state_.owned.reserve(state_.outbox.needed())) {
        state_.setup.host->makeRoom(-1, 0);
      }
      state_.owned.leave(state_.bucket.shard(own), state_.outbox.needed());
      report.skipped = state_.setup.options->skipLoss > 0 &&
                       report.pairsMissing > state_.setup.options->skipLoss *
                                                 report.pairsExpected;
      if (report.skipped) {
        std::memset(state_.bucket.data(), 0, state_.setup.shape.bytes());
      }
      for (Shard shard(0); !report.skipped && shard < state_.ranks.members();
           shard.number++) {
        report.forms.push_back(resultForm(shard));
        state_.bucket.invert(shard, report.forms.back());
      }
    }
    state_.owned.giveRoomBack();
    state_.broadcast.leave();
    state_.bucket.leave();
  }
  for (int rank = 0; rank < state_.ranks.size(); rank++) {
    state_.outbox.stopContributions(rank);
    report.scatter.push_back(state_.scatterRun.bytes(rank));
    report.broadcast.push_back(
        state_.runOf(rank, Stage::kBroadcast).bytes(rank));
    report.contributors.push_back(
        state_.ranks.isMember(rank)
            ? state_.owned.sum().summed(state_.ranks.shardOf(rank))
            : BitSet());
    if (rank != state_.ranks.rank() && state_.call.failed()) {
      state_.outbox.stopResults(rank);  // nothing more can be sent from here
    }
  }
  notices_.tellDone(now);
  return report;
}

}  // namespace ubt
