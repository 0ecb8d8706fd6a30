// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/op.h"

#include <algorithm>
#include <utility>

#include "transport_ubt/core/base/require.h"

namespace ubt {
namespace {

// Memory that the allocator and the session's table use per op.
constexpr size_t kNodeBytes = 256;
// The arena's charges for these objects. They are constants, so that moving a
// member does not change simulated results.
constexpr size_t kOpBytes = 2560;
constexpr size_t kPeerBytes = 616;
constexpr size_t kExchangeBytes = 320;
static_assert(sizeof(Op) <= kOpBytes, "the account covers an op");
static_assert(sizeof(ExchangeStage) <= kExchangeBytes,
              "the account covers an exchange stage");

}  // namespace

Op::Op(const Setup& setup,
       const OpParts& parts,
       const OpBounds& bounds,
       ArenaBuffer room)
    : room_(std::move(room)),
      state_(setup, parts, bounds),
      reported_(state_.ranks.members()) {
  if (setup.options->trace) {
    trace_ = std::make_unique<OpTrace>(state_.ranks.size());
    trace_->slots = state_.owned.slots();
  }
  if (!state_.ranks.grouped()) {
    state_.outbox.joinMulticast(
        [host = setup.host](int rank) { return host->hearsMulticast(rank); });
  }
  if (state_.owned.sum().closed()) {  // an empty shard: nothing to own
    settleScatter();
  }
}

size_t Op::bytesFor(const OpParts& parts) {
  const auto& [ranks, layout] = parts;
  static_assert(3 * StageRun::bytesPerRank() + Outbox::bytesPerRank() +
                        Attendance::bytesPerRank() <=
                    kPeerBytes,
                "the account covers a peer");
  const Shard own = ranks.shard();
  size_t bytes = kOpBytes + kNodeBytes + ranks.size() * kPeerBytes +
                 ReportedLosses::bytesFor(ranks.members()) +
                 ScatterStage::bytesFor(layout, own, ranks.members()) +
                 BroadcastStage::bytesFor(layout, own, ranks.members()) +
                 2 * StageProgress::bytesFor(ranks.size()) +
                 (ranks.grouped() ? 3 : 2) * Retries::bytesFor(ranks.size()) +
                 Notices::bytesFor(ranks.size());
  for (Shard shard(0); shard < ranks.members(); shard.number++) {
    // The send queue, and as many bits for slots that were turned away, and for
    // lost ones.
    bytes += 3 * SendQueue::bytesFor(layout.slots(shard), layout.slots(own));
  }
  if (ranks.grouped()) {
    bytes +=
        kExchangeBytes + ExchangeStage::bytesFor(layout, own, ranks.groups()) +
        StageProgress::bytesFor(ranks.size()) +
        2 * (ranks.groups() - 1) * SendQueue::bytesFor(0, layout.slots(own));
  }
  return bytes;
}

// Results follow once the own shard is closed. Slots of a sender that has ended
// are lost, or come as repairs.
uint64_t Op::slotsComing(int peer) const {
  if (!state_.owned.sum().closed()) {
    const StageProgress& progress = state_.scatterRun.progress();
    return state_.attendance.hasEntered(peer) && !progress.hasEnded(peer)
               ? progress.owed(peer)
               : 0;
  }
  return slotsAwaited(peer);
}

void Op::enter(TimePoint now,
               std::byte* bucket,
               Form form,
               const OpBounds& bounds,
               ArenaBuffer room) {
  room_.reset();  // from now on the caller's memory holds the op
  if (state_.call.failed()) {
    state_.call.enter();
    return;
  }
  state_.bounds = bounds;
  state_.clock.enter(now);
  state_.bucket.enter(
      bucket,
      state_.bounds.exact() || state_.ranks.grouped() ? Form::kPlain : form);
  for (Shard shard(0); shard < state_.ranks.members(); shard.number++) {
    if (shard == state_.ranks.shard() ||
        !state_.broadcast.received(shard).none()) {
      state_.bucket.contribute(shard);
    }
  }
  // The own shard comes first: results may overwrite the own contributions to
  // other shards, which are then no longer needed.
  const Shard own = state_.ranks.shard();
  state_.owned.enter(state_.bucket.shard(own),
                     state_.bucket.contributed()[own],
                     std::move(room));
  state_.call.enter();
  state_.broadcast.enter(bucket);
  notices_.announce(now);
  requests_.scheduleRepairs(now);
  rankEntered(now, state_.ranks.rank());
  requests_.scheduleQuestions(now);
  noteContributions(now);
  slotsClosed(now);
  noteProgress(now);
}

// There is news that a rank, maybe the own, has entered.
void Op::rankEntered(TimePoint now, int rank) {
  if (!state_.attendance.enter(now, rank)) {
    return;
  }
  state_.membersEntered += state_.ranks.isMember(rank);
  if (trace_ != nullptr) {
    trace_->entered[rank] = now;
  }
  if (state_.clock.runs() || !state_.attendance.mostHaveEntered()) {
    return;
  }
  state_.clock.start(now);
  requests_.scheduleQuestions(now);
  tellHalf(now, Stage::kScatter);
  tellHalf(now, Stage::kBroadcast);
}

void Op::announced(TimePoint now, int rank, const OpShape& shape) {
  UBT_REQUIRE(rank != state_.ranks.rank());
  rankEntered(now, rank);
  if (!state_.attendance.announce(rank)) {
    // It asks again. Results, or the end of the op, would answer as well, but
    // may take longer.
    state_.setup.host->control(
        now,
        rank,
        ControlRecord::about(ControlType::kAnnounceSeen, state_.setup.id),
        false);
  }
  if (shape != state_.setup.shape) {
    disagree(now, rank, shape);
  }
}

void Op::disagree(TimePoint now, int rank, const OpShape& shape) {
  if (rank == state_.ranks.rank()) {
    notices_.tellShape(now, shape);
  }
  if (state_.call.returned()) {
    return;
  }
  if (!state_.call.failed() && state_.call.entered()) {
    // The call ends now. Before that, the others learn this rank's shape.
    notices_.tellShape(now, state_.setup.shape);
  }
  state_.call.disagree(blameForShapes(state_, rank, shape),
                       state_.setup.announcer);
}

void Op::giveUp(const std::string& why) {
  if (state_.call.waits()) {
    state_.call.fail({why, -1});
  }
}

void Op::peerGone(int rank, const std::string& why) {
  const bool closed = state_.owned.sum().closed();
  state_.attendance.markGone(rank);
  needsNothing(rank);
  requests_.stop(rank);
  // Where ranks form groups, its contribution may be missing in the sums of
  // other ranks, too.
  const bool owed = state_.ranks.grouped()
                        ? !state_.isAllHere()
                        : !state_.received(rank).all() ||
                              (!closed && state_.owesContributions(rank));
  if (state_.call.waits() && owed) {
    state_.call.fail({why, -1});
  }
}

void Op::needsNothing(int rank) {
  announceSeen(rank);
  notices_.doneHeard(rank);
  state_.outbox.stop(rank);
}

void Op::noteProgress(TimePoint now) {
  if (!state_.call.entered() || state_.call.finished() || !state_.isAllHere()) {
    return;
  }
  if (state_.needsEveryResult() && !state_.owned.hasRoom() &&
      !state_.owned.reserve(state_.outbox.needed())) {
    if (notices_.progressDue() == kNever) {
      notices_.tellProgress(now);
    }
    return;
  }
  if (state_.needsEveryResult()) {
    state_.resultsHash = resultsHash();
    replicas_.tell(state_.ranks.rank(), state_.resultsHash);
  }
  if (replicas_.differs()) {
    state_.call.fail(whyDifferent());
    return;
  }
  state_.call.finish(EndedBy::kComplete);
}

// REQUIRES state_.isAllHere().
uint64_t Op::resultsHash() const {
  if (state_.broadcast.hasPartial()) {
    return 0;
  }
  uint64_t hash = state_.broadcast.hash();
  for (uint32_t slot = 0; slot < state_.owned.slots(); slot++) {
    const OwnedShard::Value own =
        state_.owned.valueFor(state_.ranks.rank(), slot);
    if (own.partial) {
      return 0;
    }
    hash += ReplicaProof::ofSlot(
        state_.ranks.shard(), slot, own.form, own.payload, own.payloadBytes);
  }
  return std::max<uint64_t>(hash, 1);
}

uint32_t Op::dropEarly() {
  uint32_t slots = 0;
  for (int rank = 0; state_.needsEveryResult() && rank < state_.ranks.size();
       rank++) {
    if (!state_.ranks.isMember(rank)) {
      continue;
    }
    const BroadcastStage::Dropped dropped = state_.broadcast.dropEarly(
        state_.ranks.shardOf(rank),
        &state_.broadcastRun.turnedAway(rank, state_.received(rank).size()));
    state_.broadcastRun.dropped(rank, dropped.bytes);
    slots += dropped.slots;
  }
  return slots;
}

}  // namespace ubt
