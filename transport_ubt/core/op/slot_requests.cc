// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/slot_requests.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "transport_ubt/core/wire/control.h"

namespace ubt {
namespace {

// The longest wait before a first request or question. Usual times of a new
// size class are guesses and may be as long as the call's timeout.
constexpr Duration kFirstMost = std::chrono::milliseconds(50);
// The most ranges of slots that one request names.
constexpr int kRepairRangesMax = 16;

}  // namespace

void SlotRequests::schedule(Retries* retries, TimePoint now, int rank) {
  if (!op_->attendance.hasGone(rank)) {
    retries->schedule(rank, now, op_->setup.host->retryAfter(now, rank));
  }
}

void SlotRequests::scheduleFirst(Retries* retries, TimePoint at, int rank) {
  if (retries->at(rank) == kNever) {
    schedule(retries, at, rank);
  }
}

void SlotRequests::restart(Retries* retries, TimePoint now, int rank) {
  if (!op_->attendance.hasGone(rank)) {
    retries->restart(rank, now, op_->setup.host->retryAfter(now, rank));
  }
}

template <typename Act>
void SlotRequests::forOpen(const Act& act) const {
  // A sender needs no question once one of its last slots is here.
  const bool closed = op_->owned.sum().closed();
  if (repairsContributions() ||
      (!closed && mayAsk() && op_->sendersPending() > 0)) {
    act(&op_->scatterRun, Stage::kScatter, repairsContributions());
  }
  if (repairsResults() || (op_->call.waits() && mayAsk())) {
    act(&op_->broadcastRun, Stage::kBroadcast, repairsResults());
  }
  if (repairsSums() || (closed && !op_->owned.exchanged() && mayAsk())) {
    act(&op_->exchangeRun, Stage::kBroadcast, repairsSums());
  }
}

void SlotRequests::scheduleQuestions(TimePoint now) {
  if (!mayAsk()) {
    return;
  }
  const OpBounds& bounds = op_->bounds;
  const OpRanks& ranks = op_->ranks;
  const auto first = [](Duration usual) { return std::min(usual, kFirstMost); };
  const Duration scatter =
      bounds.byHand() ? bounds.scatter / 2 : first(bounds.stop.usual);
  const Duration results =
      bounds.byHand() ? op_->limit() / 2 : first(bounds.resultsStop.usual);
  for (int rank = 0; rank < ranks.size(); rank++) {
    if (rank == ranks.rank()) {
      continue;
    }
    if (ranks.isCoOwner(rank) && !op_->needsEveryResult()) {
      scheduleFirst(&op_->exchangeRun.repairs,
                    now + scatter + first(bounds.exchangeStop.usual),
                    rank);
    }
    if (!ranks.isMember(rank)) {
      continue;
    }
    scheduleFirst(&op_->scatterRun.repairs, now + scatter, rank);
    if (op_->call.waits() && !op_->needsEveryResult()) {
      scheduleFirst(&op_->broadcastRun.repairs, now + results, rank);
    }
  }
}

void SlotRequests::scheduleRepairs(TimePoint now) {
  for (int rank = 0; rank < op_->ranks.size(); rank++) {
    if (rank == op_->ranks.rank() || !op_->ranks.isMember(rank)) {
      continue;
    }
    if (op_->needsEveryResult()) {
      // An owner has nothing to repeat before its scatter stage is over.
      scheduleFirst(&op_->broadcastRun.repairs,
                    now + std::min(op_->bounds.usual(), kFirstMost),
                    rank);
    }
    if (op_->repairsScatter()) {
      scheduleFirst(&op_->scatterRun.repairs, now, rank);
    }
  }
}

void SlotRequests::awaitSums(TimePoint now) {
  for (int rank = 0; rank < op_->ranks.size(); rank++) {
    if (op_->ranks.isCoOwner(rank)) {
      scheduleFirst(&op_->exchangeRun.repairs, now, rank);
    }
  }
}

void SlotRequests::requestContributions(TimePoint now) {
  op_->requestsContributions = true;
  for (int rank = 0; rank < op_->ranks.size(); rank++) {
    if (rank != op_->ranks.rank() && op_->owesContributions(rank)) {
      restart(&op_->scatterRun.repairs, now, rank);
    }
  }
}

void SlotRequests::arrived(TimePoint now, int rank, Stage stage) {
  if (stage == Stage::kBroadcast || repairsContributions()) {
    restart(&op_->runOf(rank, stage).repairs, now, rank);
  }
}

void SlotRequests::ended(TimePoint now, int rank, Stage stage) {
  if (stage == Stage::kScatter    ? repairsContributions()
      : op_->ranks.isMember(rank) ? repairsResults()
                                  : repairsSums()) {
    request(now, rank, stage);
    restart(&op_->runOf(rank, stage).repairs, now, rank);
  }
}

void SlotRequests::stop(int rank) {
  op_->scatterRun.repairs.stop(rank);
  op_->broadcastRun.repairs.stop(rank);
  op_->exchangeRun.repairs.stop(rank);
}

TimePoint SlotRequests::earliest() const {
  TimePoint next = kNever;
  forOpen([&](const StageRun* run, Stage /*stage*/, bool /*repairs*/) {
    next = std::min(next, run->repairs.earliest());
  });
  return next;
}

void SlotRequests::askDue(TimePoint now) {
  forOpen([&](StageRun* run, Stage stage, bool repairs) {
    ask(now, run, stage, repairs);
  });
}

// Asks each rank that owes slots whether more will come. A rank that has ended
// is asked for the missing slots. Packet numbers show most losses earlier.
void SlotRequests::ask(TimePoint now,
                       StageRun* run,
                       Stage stage,
                       bool repairs) {
  run->repairs.forDue(now, [&](int rank) {
    if (run->progress().hasEnded(rank)) {
      if (!repairs || !request(now, rank, stage)) {
        run->repairs.stop(rank);
        return;
      }
    } else if (run->progress().owed(rank) > 0 &&
               (stage == Stage::kBroadcast ||
                op_->attendance.hasEntered(rank))) {
      ControlRecord record =
          ControlRecord::about(ControlType::kRepair, op_->setup.id);
      record.stage = stage;
      op_->setup.host->control(now, rank, record, true);
    }
    schedule(&run->repairs, now, rank);
  });
}

// Requests the slots that are missing from a rank. False: there are none, or
// the rank repeats nothing.
bool SlotRequests::request(TimePoint now, int rank, Stage stage) {
  if (stage == Stage::kBroadcast) {
    requestMissing(now, rank, stage, op_->received(rank));
    return !op_->received(rank).all();
  }
  if (!op_->owesContributions(rank) || op_->attendance.repeatsNothing(rank)) {
    return false;
  }
  requestMissing(
      now, rank, stage, op_->owned.sum().contributed(op_->ranks.shardOf(rank)));
  return true;
}

// Requests the slots that `have` lacks.
void SlotRequests::requestMissing(TimePoint now,
                                  int rank,
                                  Stage stage,
                                  const BitSet& have) {
  int ranges = 0;
  size_t slot = have.firstClear(0);
  while (slot < have.size() && ranges++ < kRepairRangesMax) {
    const size_t end = have.firstSet(slot);
    ControlRecord record =
        ControlRecord::about(ControlType::kRepair, op_->setup.id);
    record.stage = stage;
    record.slot = static_cast<uint32_t>(slot);
    record.slots = static_cast<uint32_t>(end - slot);
    op_->setup.host->control(now, rank, record, true);
    slot = have.firstClear(end);
  }
}

}  // namespace ubt
