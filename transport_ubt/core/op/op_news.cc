// SPDX-License-Identifier: Apache-2.0
//
// News of other ranks: progress, ends and losses.

#include <algorithm>

#include "transport_ubt/core/op/op.h"

namespace ubt {

// Only a rank that has entered tells its progress. Its announcement may have
// been lost, and is not repeated once a result has arrived there.
void Op::progress(TimePoint now, int peer, uint32_t slot) {
  rankEntered(now, peer);
  state_.outbox.noteProgress(peer, slot);
  noteProgress(now);
}

// `cut`: results of a slot that the rank left out. `hash`: of its results.
void Op::done(TimePoint now, int rank, uint32_t cut, uint64_t hash) {
  replicas_.tell(rank, hash);
  if (!state_.attendance.isDone(rank)) {
    state_.cut.resultsByOthers += std::min<uint64_t>(
        cut,
        uint64_t{state_.layout.slots(Shard(0))} * state_.ranks.ownersHeard());
  }
  state_.attendance.finish(rank);
  if (state_.ranks.takesSlots(rank)) {
    state_.attendance.passThrough(now, rank, Stage::kBroadcast);
  }
  rankEntered(now, rank);
  needsNothing(rank);
  noteProgress(now);
}

// The owner has closed its shard, and needs no further contributions. `cut`:
// those that it left out while they were on their way.
void Op::shardClosed(TimePoint now, int peer, uint32_t cut) {
  if (!state_.ranks.takesSlots(peer)) {
    return;
  }
  state_.outbox.stopContributions(peer);
  halfEnded(now, peer, Stage::kScatter);
  if (state_.attendance.reportClosed(peer)) {
    state_.cut.lateByOthers +=
        std::min(cut,
                 static_cast<uint32_t>(state_.ranks.members()) *
                     state_.layout.slots(Shard(0)));
  }
}

// Data of the peer has arrived, or nothing more of it is on its way.
void Op::noteEnd(TimePoint now, int peer, Stage stage) {
  if (state_.runOf(stage).progress().hasEnded(peer)) {
    state_.attendance.passThrough(now, peer, stage);
    tellHalf(now, stage);
  }
}

// Once half of the senders are complete, other owners hear it. An owner whose
// own link is congested learns the usual time from them.
void Op::tellHalf(TimePoint now, Stage stage) {
  StageRun& run = state_.runOf(stage);
  if (run.toldHalf || !state_.followsRule() ||
      !state_.setup.options->has(Loop::kHalf) ||
      run.progress().halfEndedAt() == kNever ||
      (stage == Stage::kScatter ? state_.owned.sum().closed()
                                : state_.needsEveryResult())) {
    return;
  }
  run.toldHalf = true;
  notices_.tellHalf(now, stage);
}

// The peer says that half of the stage's senders are complete there.
void Op::halfEnded(TimePoint now, int peer, Stage stage) {
  if (!state_.ranks.takesSlots(peer)) {
    return;
  }
  state_.attendance.passThrough(now, peer, stage);
  if (trace_ != nullptr && stage == Stage::kScatter &&
      trace_->through[peer] == kNever) {
    trace_->through[peer] = now;
  }
}

// If slots of the rank are still missing, they were lost.
void Op::noMore(TimePoint now, int rank, Stage stage) {
  if (stage == Stage::kBroadcast) {
    if (state_.ranks.takesSlots(rank) &&
        state_.runOf(rank, Stage::kBroadcast).end(now, rank)) {
      noteEnd(now, rank, Stage::kBroadcast);
      requests_.ended(now, rank, Stage::kBroadcast);
    }
    return;
  }
  if (!state_.ranks.isMember(rank) || state_.owned.sum().closed()) {
    return;
  }
  rankEntered(now, rank);  // else it would not know
  if (state_.scatterRun.end(now, rank)) {
    noteEnd(now, rank, Stage::kScatter);
    requests_.ended(now, rank, Stage::kScatter);
  }
}

void Op::over(TimePoint now, int rank) {
  if (!state_.ranks.isMember(rank) || state_.owned.sum().closed()) {
    return;
  }
  state_.attendance.endRepeats(rank);
  noMore(now, rank, Stage::kScatter);
  noteContributions(now);
}

// This op is exact here. It was bounded at a rank that has returned and repeats
// nothing, because warm-up may end in different ops on different ranks. So the
// op waits only for the contributions of the other ranks.
void Op::noteContributions(TimePoint now) {
  if (!state_.call.entered() || state_.call.failed() ||
      state_.owned.sum().closed() || !state_.repairsScatter()) {
    return;
  }
  for (int rank = 0; rank < state_.ranks.size(); rank++) {
    const bool over =
        rank == state_.ranks.rank() || state_.attendance.repeatsNothing(rank);
    if (!over && state_.owesContributions(rank)) {
      return;
    }
  }
  expireScatter(now);
}

// Whether this op goes on without slots of the stage that the rank does not
// repeat. Bounds by hand and those of the paper end stages alone.
bool Op::goesOnWithout(int rank, Stage stage) const {
  if (!state_.ranks.isMember(rank) ||
      state_.bounds.rule != OpBounds::Rule::kLearned) {
    return false;
  }
  if (stage == Stage::kBroadcast) {
    return !state_.call.finished() && !state_.needsEveryResult();
  }
  // The end of the stage decides whether slots become zero.
  return !state_.owned.sum().closed() && !state_.repairsScatter() &&
         (state_.ranks.grouped() || !state_.setup.options->zeroesMajority());
}

void Op::lostHere(
    TimePoint now, int rank, Stage stage, uint32_t slot, uint32_t slots) {
  if (goesOnWithout(rank, stage)) {
    if (stage == Stage::kScatter) {
      rankEntered(now, rank);  // else it would not have sent any
    }
    reported_.add(now + state_.setup.host->lossAfterTrip(now, rank),
                  {rank, stage, slot, slots});
  }
}

void Op::countLost(TimePoint now, const ReportedLosses::Slots& lost) {
  const auto [rank, stage, first, slots] = lost;
  if (!goesOnWithout(rank, stage)) {
    return;
  }
  const bool scatter = stage == Stage::kScatter;
  const Shard of = state_.ranks.shardOf(rank);
  const Shard shard = scatter ? state_.ranks.shard() : of;
  const BitSet& here = scatter ? state_.owned.sum().contributed(of)
                               : state_.broadcast.received(of);
  StageRun& run = state_.runOf(stage);
  const uint32_t end = state_.layout.endOfRange(shard, first, slots);
  for (uint32_t slot = first; slot < end; slot++) {
    const bool isNew =
        !here.test(slot) && run.lose(now,
                                     rank,
                                     slot,
                                     state_.layout.slots(shard),
                                     state_.layout.slotSize(shard, slot));
    if (isNew && scatter) {
      state_.owned.sum().lose(slot);
    }
  }
  noteEnd(now, rank, stage);
  if (scatter) {
    slotsClosed(now);
  }
}

}  // namespace ubt
