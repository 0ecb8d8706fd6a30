// SPDX-License-Identifier: Apache-2.0
//
// An op's deadlines: they end its stages and its call, and repeat its records.

#include <algorithm>
#include <string>

#include "transport_ubt/core/op/op.h"

namespace ubt {

TimePoint Op::nextDeadline() const {
  TimePoint next = std::min({ends_.earliest(),
                             requests_.earliest(),
                             reported_.earliest(),
                             notices_.earliest(),
                             warnAt()});
  if (state_.call.waits()) {
    next = std::min({next, state_.callEnd(), notices_.progressDue()});
  }
  return next;
}

void Op::deadlinePassed(TimePoint now) {
  reported_.forDue(now, [&](const auto& lost) { countLost(now, lost); });
  stopsPassed(now);
  if (state_.call.waits() && now >= state_.callEnd()) {
    expire(now);
  }
  if (state_.call.waits() && now >= notices_.progressDue()) {
    notices_.tellProgress(now);
    noteProgress(now);  // the arena may have room by now
  }
  if (now >= warnAt()) {
    warnOfWait();
  }
  notices_.repeatDue(now);
  requests_.askDue(now);
}

void Op::warnOfWait() {
  warned_ = true;
  const std::string text = warningOfWait(state_);
  if (!text.empty()) {
    state_.setup.host->warn(text);
  }
}

void Op::stopsPassed(TimePoint now) {
  if (now >= ends_.scatter()) {
    if (ends_.mostIsLost()) {
      requests_.requestContributions(now);
    } else {
      expireScatter(now);
    }
  }
  if (now >= ends_.exchange()) {
    expireExchange(now);
  }
  if (now >= ends_.results()) {
    if (!state_.owned.sum().closed()) {
      expireScatter(now);
    }
    finishByBound(now);
  }
}

// The call's own deadline has passed.
void Op::expire(TimePoint now) {
  if (state_.needsEveryResult() || !state_.clock.runs()) {
    state_.call.fail(blameForTimeout(state_, now));
    return;
  }
  if (!state_.owned.sum().closed()) {
    expireScatter(now);
  }
  finishByBound(now);
}

void Op::expireScatter(TimePoint now) {
  noteCut();
  // A group's sum is not zeroed: other groups may miss even more.
  state_.owned.sum().closeAll(
      state_.ranks.grouped() ? 0 : state_.setup.options->zeroLoss);
  closeScatter(now);
}

// The call does not wait any longer for results and other groups' sums.
void Op::finishByBound(TimePoint now) {
  expireExchange(now);
  if (!state_.call.finished()) {
    state_.broadcastRun.closedAt = now;
    state_.call.finish(EndedBy::kBound);
  }
}

// Counts the contributions that this owner leaves out.
void Op::noteCut() {
  for (int rank = 0; rank < state_.ranks.size(); rank++) {
    if (!state_.ranks.isMember(rank)) {
      continue;
    }
    const bool own = rank == state_.ranks.rank();
    if (own ? !state_.call.entered() : !state_.attendance.hasEntered(rank)) {
      state_.cut.absent++;
    } else if (!own && state_.causeOf(rank) == StageRun::Cause::kCut) {
      state_.cut.late += state_.scatterRun.progress().owed(rank);
    }
  }
}

void Op::closeScatter(TimePoint now) {
  if (state_.scatterRun.closedAt == TimePoint{}) {
    state_.scatterRun.closedAt = now;
  }
  if (!scatterSettled_) {
    // Members stop sending, and learn that this rank is through.
    notices_.tellClosed(now);
  }
  settleScatter();
  if (!state_.owned.exchanged() && state_.needsEveryResult()) {
    requests_.awaitSums(now);
  }
  noteExchange(now);
  noteProgress(now);
}

// Bytes of slots of a shard that were turned away, or late, and never stored.
uint64_t Op::notStored(const BitSet& turnedAway,
                       const BitSet& stored,
                       Shard shard) const {
  uint64_t bytes = 0;
  for (size_t slot = turnedAway.firstSet(0); slot < turnedAway.size();
       slot = turnedAway.firstSet(slot + 1)) {
    bytes += stored.test(slot) ? 0 : state_.layout.slotSize(shard, slot);
  }
  return bytes;
}

// Once every slot is closed.
void Op::settleScatter() {
  if (scatterSettled_) {
    return;
  }
  scatterSettled_ = true;
  state_.scatterRun.repairs.stopAll();
  for (int rank = 0; rank < state_.ranks.size(); rank++) {
    if (!state_.ranks.isMember(rank)) {
      continue;
    }
    const BitSet& taken =
        state_.owned.sum().contributed(state_.ranks.shardOf(rank));
    state_.scatterRun.expired |= !taken.all();
    if (rank != state_.ranks.rank()) {
      state_.scatterRun.settle(
          rank,
          notStored(
              state_.scatterRun.turnedAway(rank), taken, state_.ranks.shard()),
          state_.causeOf(rank));
    }
  }
}

}  // namespace ubt
