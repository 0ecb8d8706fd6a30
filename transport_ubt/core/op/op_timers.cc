// SPDX-License-Identifier: Apache-2.0
//
// An op's timers: its repeats, and its ends.

#include <algorithm>

#include "transport_ubt/core/op/op.h"

namespace ubt {
namespace {

// The least pause between notices.
constexpr Duration kNotice = std::chrono::milliseconds(2);
// The most ranges of slots that one request names.
constexpr int kRepairRangesMax = 16;

}  // namespace

// Answers to notices may wait for others to share their datagram.
void Op::scheduleNotice(Retries* retries, TimePoint now, int peer) {
  if (!attendance_.hasGone(peer)) {
    retries->schedule(
        peer, now, std::max(kNotice, setup_.host->retryAfter(now, peer)));
  }
}

void Op::schedule(Retries* retries, TimePoint now, int peer) {
  if (!attendance_.hasGone(peer)) {
    retries->schedule(peer, now, setup_.host->retryAfter(now, peer));
  }
}

void Op::restart(Retries* retries, TimePoint now, int peer) {
  if (!attendance_.hasGone(peer)) {
    retries->restart(peer, now, setup_.host->retryAfter(now, peer));
  }
}

TimePoint Op::nextDeadline() const {
  TimePoint next = std::min(
      {scatterEnd(), exchangeEnd(), resultsEnd(), reported_.earliest()});
  if (call_.waits()) {
    next = std::min({next, callEnd(), notices_.progressToAll.earliest()});
  }
  if (announces()) {
    next = std::min(next, notices_.announcement.earliest());
  }
  if (asksForContributions() || queriesContributions()) {
    next = std::min(next, scatterRun_.repairs.earliest());
  }
  if (asksForResults() || queriesResults()) {
    next = std::min(next, broadcastRun_.repairs.earliest());
  }
  if (asksForSums() || queriesSums()) {
    next = std::min(next, exchangeRun_.repairs.earliest());
  }
  if (call_.returned()) {
    next = std::min(next, notices_.doneQuery.earliest());
  }
  return next;
}

void Op::requestMissing(TimePoint now,
                        int peer,
                        Stage stage,
                        const BitSet& have) {
  int ranges = 0;
  size_t slot = have.firstClear(0);
  while (slot < have.size() && ranges++ < kRepairRangesMax) {
    const size_t end = have.firstSet(slot);
    setup_.host->control(now,
                         peer,
                         {ControlType::kRepair,
                          setup_.id,
                          {},
                          0,
                          stage,
                          static_cast<uint32_t>(slot),
                          static_cast<uint32_t>(end - slot)},
                         true);
    slot = have.firstClear(end);
  }
}

// Whether the scatter stage may end although data was lost. A slot that holds
// no majority waits for one, unless more than half of all ranks are through:
// then the network is bad for this rank alone. One of these makes a rank
// through:
// - All its contributions have arrived, or some were turned away.
// - It has entered and closed a slot of its own. Results mostly leave after
//   contributions.
// - It is done, or has returned.
// An op without repair never waits. The same holds for a bound set by hand.
bool Op::mayEndScatter() const {
  if (owned_.sum().holdsMajority() || ranks_.grouped() || !needsEveryResult() ||
      setup_.options->boundScatter > Duration{0}) {
    return true;
  }
  int through = call_.entered() ? 1 : 0;
  for (int rank = 0; rank < ranks_.size(); rank++) {
    through += rank != ranks_.rank() &&
               (attendance_.isDone(rank) || attendance_.repeatsNothing(rank) ||
                !owesContributions(rank) || scatterRun_.anyTurnedAway(rank) ||
                (attendance_.hasEntered(rank) && !received(rank).none()));
  }
  return 2 * through > ranks_.size();
}

void Op::deadlinePassed(TimePoint now) {
  reported_.forDue(now, [&](const auto& lost) { countLost(now, lost); });
  stopsPassed(now);
  if (call_.waits() && now >= callEnd()) {
    expire(now);
  }
  if (call_.waits() && now >= notices_.progressToAll.earliest()) {
    tellProgress(now);
    noteProgress(now);  // the arena may have room by now
  }
  repeatDueRecords(now);
}

void Op::repeatDueRecords(TimePoint now) {
  if (announces()) {
    notices_.announcement.forDue(now, [&](int rank) {
      setup_.host->control(
          now, rank, ControlRecord::announce(setup_.id, setup_.shape), true);
      scheduleNotice(&notices_.announcement, now, rank);
    });
  }
  if (asksForContributions() || queriesContributions()) {
    ask(now, &scatterRun_, Stage::kScatter, asksForContributions());
  }
  if (asksForResults() || queriesResults()) {
    ask(now, &broadcastRun_, Stage::kBroadcast, asksForResults());
  }
  if (asksForSums() || queriesSums()) {
    ask(now, &exchangeRun_, Stage::kBroadcast, asksForSums());
  }
  if (call_.returned()) {
    notices_.doneQuery.forDue(now, [&](int rank) {
      setup_.host->control(
          now, rank, doneRecord(ControlType::kDoneQuery), true);
      scheduleNotice(&notices_.doneQuery, now, rank);
    });
  }
}

void Op::expireScatter(TimePoint now) {
  noteCut();
  // A group's sum is not zeroed: other groups may miss even more.
  owned_.sum().closeAll(ranks_.grouped() ? 0 : setup_.options->zeroLoss);
  closeScatter(now);
}

// The call's own deadline has passed.
void Op::expire(TimePoint now) {
  if (needsEveryResult() || !clock_.runs()) {
    failAtTimeout(now);
    return;
  }
  if (!owned_.sum().closed()) {
    expireScatter(now);
  }
  finishByBound(now);
}

}  // namespace ubt
