// SPDX-License-Identifier: Apache-2.0
//
// The end of an op's call, and its report.

#include <algorithm>
#include <cstring>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/op/op.h"

namespace ubt {

// Bytes of slots of a shard that were turned away, or late, and never stored.
uint64_t Op::notStored(const BitSet& turnedAway,
                       const BitSet& stored,
                       Shard shard) const {
  uint64_t bytes = 0;
  for (size_t slot = turnedAway.firstSet(0); slot < turnedAway.size();
       slot = turnedAway.firstSet(slot + 1)) {
    bytes += stored.test(slot) ? 0 : layout_.slotSize(shard, slot);
  }
  return bytes;
}

// Once every slot is closed.
void Op::settleScatter() {
  if (scatterSettled_) {
    return;
  }
  scatterSettled_ = true;
  scatterRun_.repairs.stopAll();
  for (int rank = 0; rank < ranks_.size(); rank++) {
    if (!ranks_.isMember(rank)) {
      continue;
    }
    const BitSet& taken = owned_.sum().contributed(ranks_.shardOf(rank));
    scatterRun_.expired |= !taken.all();
    if (rank != ranks_.rank()) {
      scatterRun_.settle(
          rank,
          notStored(scatterRun_.turnedAway(rank), taken, ranks_.shard()),
          causeOf(rank));
    }
  }
}

// When the caller leaves: the same for results and for sums.
void Op::settleResults() {
  for (int rank = 0; rank < ranks_.size(); rank++) {
    if (rank == ranks_.rank() || !ranks_.takesSlots(rank)) {
      continue;
    }
    StageRun& run = runOf(rank);
    const Shard shard =
        ranks_.isMember(rank) ? ranks_.shardOf(rank) : ranks_.shard();
    const bool silent = !attendance_.isDone(rank) &&
                        run.bytes(rank).received == 0 &&
                        !run.anyTurnedAway(rank) &&
                        setup_.host->lastHeard(rank) < clock_.enteredAt();
    if (!silent && isCut(run, rank)) {
      resultsCut_ += run.progress().owed(rank);
    }
    run.settle(rank,
               notStored(run.turnedAway(rank), received(rank), shard),
               silent             ? StageRun::Cause::kAbsent
               : isCut(run, rank) ? StageRun::Cause::kCut
                                  : StageRun::Cause::kLost);
  }
}

Form Op::resultForm(Shard shard) const {
  return shard == ranks_.shard()
             ? owned_.sum().form()
             : broadcast_.form(shard).value_or(bucket_.contributed()[shard]);
}

OpSample Op::sample() const {
  OpSample sample;
  sample.bytes = setup_.shape.bytes();
  sample.hierarchical = setup_.shape.hierarchical();
  sample.warmup = bounds_.warmup;
  sample.lost = scatterRun_.lostShare() + broadcastRun_.lostShare();
  sampleStops(&sample);
  return sample;
}

OpReport Op::leave(TimePoint now) {
  UBT_REQUIRE(call_.finished() && !call_.returned());
  OpReport report;
  report.op = setup_.id;
  report.bounded = !bounds_.warmup;
  report.endedBy = call_.endedBy();
  report.scatterExpired = scatterRun_.expired;
  report.elapsed = now - clock_.enteredAt();
  if (trace_ != nullptr) {
    trace_->startedAt = clock_.startedAt();
    report.trace = std::move(trace_);
  }
  report.waited = clock_.waited(now);
  report.limit = limit();
  reportBounds(&report);
  const size_t elementBytes = elementSize(setup_.shape.type);
  const Shard own = ranks_.shard();
  report.ownShard = {layout_.shardOffset(own) / elementBytes,
                     layout_.shardSize(own) / elementBytes};
  report.contributed = bucket_.contributed();
  report.shardElements = layout_.shardSize(Shard(0)) / elementBytes;
  report.slotElements = owned_.slots() > 0 ? layout_.slotElements(own, 0) : 0;
  call_.leave();
  settleResults();
  if (bucket_.here()) {
    if (!call_.failed()) {
      report.filled = broadcast_.zeroMissing(setup_.shape.type);
      for (const OpReport::Range& range : report.filled) {
        report.driftElements += range.count;
      }
    }
    report.pairsExpected =
        static_cast<uint64_t>(ranks_.size()) * layout_.elements();
    report.pairsMissing =
        broadcast_.pairsMissing() + report.driftElements * (ranks_.size() - 1);
    for (uint32_t slot = 0; slot < owned_.slots(); slot++) {
      report.pairsMissing +=
          static_cast<uint64_t>(ranks_.size() - owned_.contributors(slot)) *
          layout_.slotElements(own, slot);
    }
    reportExchange(&report);
    if (call_.endedBy() == EndedBy::kComplete && report.pairsMissing > 0) {
      report.endedBy = EndedBy::kCut;
    }
    report.zeroedElements = owned_.sum().zeroedElements();
    if (!call_.failed()) {
      if (!owned_.hasRoom() && !owned_.reserve(outbox_.needed())) {
        setup_.host->makeRoom(-1, 0);
      }
      owned_.leave(bucket_.shard(own), outbox_.needed());
      report.skipped =
          setup_.options->skipLoss > 0 &&
          report.pairsMissing > setup_.options->skipLoss * report.pairsExpected;
      if (report.skipped) {
        std::memset(bucket_.data(), 0, setup_.shape.bytes());
      }
      for (Shard shard(0); !report.skipped && shard < ranks_.members();
           shard.number++) {
        report.forms.push_back(resultForm(shard));
        bucket_.invert(shard, report.forms.back());
      }
    }
    owned_.giveRoomBack();
    broadcast_.leave();
    bucket_.leave();
  }
  for (int rank = 0; rank < ranks_.size(); rank++) {
    outbox_.stopContributions(rank);
    report.scatter.push_back(scatterRun_.bytes(rank));
    report.broadcast.push_back(runOf(rank).bytes(rank));
    report.contributors.push_back(
        ranks_.isMember(rank) ? owned_.sum().summed(ranks_.shardOf(rank))
                              : BitSet());
    if (rank == ranks_.rank()) {
      continue;
    }
    if (call_.failed()) {  // nothing can be sent from here any more
      outbox_.stopResults(rank);
    }
    setup_.host->control(now, rank, doneRecord(ControlType::kDone), false);
    if (!attendance_.isDone(rank)) {
      scheduleNotice(&notices_.doneQuery, now, rank);
    }
  }
  return report;
}

}  // namespace ubt
