// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/op.h"

#include <algorithm>
#include <utility>

#include "transport_ubt/core/base/require.h"

namespace ubt {
namespace {

// The longest wait before a first request for an owner's results.
constexpr Duration kFirstRequestMax = std::chrono::milliseconds(50);
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
    : setup_(setup),
      parts_(parts),
      room_(std::move(room)),
      bounds_(bounds),
      owned_(layout_,
             ranks_,
             {setup.id,
              setup.shape.type,
              setup.options,
              setup.reduction,
              setup.arena,
              &heldBytes_}),
      broadcast_(layout_,
                 ranks_.shard(),
                 ranks_.members(),
                 ranks_.size(),
                 setup.arena,
                 &heldBytes_),
      bucket_(layout_,
              {setup.id,
               setup.shape.type,
               ranks_.members(),
               ranks_.size(),
               setup.reduction}),
      attendance_(ranks_.rank(),
                  ranks_.size(),
                  ranks_.members() - 1 + ranks_.groups() - 1),
      clock_(setup.begunAt),
      outbox_({&layout_,
               &ranks_,
               &attendance_,
               &owned_,
               &broadcast_,
               &bucket_,
               setup.options->loops == Loops::kPaper}),
      scatterRun_(ranks_.size()),
      exchangeRun_(ranks_.grouped() ? ranks_.size() : 1),
      broadcastRun_(ranks_.size()),
      reported_(ranks_.members()),
      notices_(ranks_.size()) {
  if (setup.options->trace) {
    trace_ = std::make_unique<OpTrace>(ranks_.size());
    trace_->slots = owned_.slots();
  }
  const Shard own = ranks_.shard();
  for (int peer = 0; peer < ranks_.size(); peer++) {
    const bool member = ranks_.isMember(peer);
    const Shard shard = member ? ranks_.shardOf(peer) : Shard(0);
    if (peer != ranks_.rank() && member) {
      // The contribution leaves only once the caller has brought it.
      scatterRun_.expect(peer, layout_.slots(own), layout_.shardSize(own));
      broadcastRun_.expect(
          peer, layout_.slots(shard), layout_.shardSize(shard));
    } else if (ranks_.isCoOwner(peer)) {
      exchangeRun_.expect(peer, layout_.slots(own), layout_.shardSize(own));
    }
  }
  if (!ranks_.grouped()) {
    outbox_.joinMulticast(
        [this](int rank) { return setup_.host->hearsMulticast(rank); });
  }
  if (owned_.sum().closed()) {  // an empty shard: nothing to own
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
                 (ranks.grouped() ? 6 : 5) * Retries::bytesFor(ranks.size()) +
                 Retries::bytesFor(1);
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

bool Op::repairsScatter() const {
  return bounds_.warmup || setup_.options->repair == RepairPolicy::kBoth;
}

// Without every result, replicas would differ.
bool Op::needsEveryResult() const {
  return bounds_.warmup || setup_.options->needsEveryResult();
}

// There is news that a rank, maybe the own, has entered.
void Op::rankEntered(TimePoint now, int rank) {
  if (!attendance_.enter(now, rank)) {
    return;
  }
  membersEntered_ += ranks_.isMember(rank);
  if (trace_ != nullptr) {
    trace_->entered[rank] = now;
  }
  if (clock_.runs() || !attendance_.mostHaveEntered()) {
    return;
  }
  clock_.start(now);
  startQueries(now);
}

void Op::announced(TimePoint now, int rank, const OpShape& shape) {
  UBT_REQUIRE(rank != ranks_.rank());
  rankEntered(now, rank);
  if (!attendance_.announce(rank)) {
    // It asks again. Results, or the end of the op, would answer as well, but
    // may take longer.
    setup_.host->control(
        now,
        rank,
        ControlRecord::about(ControlType::kAnnounceSeen, setup_.id),
        false);
  }
  if (shape != setup_.shape) {
    disagree(now, rank, shape);
  }
}

void Op::closeScatter(TimePoint now) {
  if (scatterRun_.closedAt == TimePoint{}) {
    scatterRun_.closedAt = now;
  }
  if (!scatterSettled_) {
    // Members stop sending, and learn that this rank is through.
    tellOwners(now, closedRecord(), lateCut_ > 0);
  }
  settleScatter();
  if (!owned_.exchanged() && needsEveryResult()) {
    awaitSums(now);
  }
  noteExchange(now);
  noteProgress(now);
}

void Op::noteProgress(TimePoint now) {
  if (!call_.entered() || call_.finished() || !isAllHere()) {
    return;
  }
  if (needsEveryResult() && !owned_.hasRoom() &&
      !owned_.reserve(outbox_.needed())) {
    if (notices_.progressToAll.earliest() == kNever) {
      tellProgress(now);
    }
    return;
  }
  if (needsEveryResult()) {
    hash_ = resultsHash();
    replicas_.tell(ranks_.rank(), hash_);
  }
  if (replicas_.differs()) {
    call_.fail(whyDifferent());
    return;
  }
  call_.finish(EndedBy::kComplete);
}

// REQUIRES isAllHere().
uint64_t Op::resultsHash() const {
  if (broadcast_.hasPartial()) {
    return 0;
  }
  uint64_t hash = broadcast_.hash();
  for (uint32_t slot = 0; slot < owned_.slots(); slot++) {
    const OwnedShard::Value own = owned_.valueFor(ranks_.rank(), slot);
    if (own.partial) {
      return 0;
    }
    hash += ReplicaProof::ofSlot(
        ranks_.shard(), slot, own.form, own.payload, own.payloadBytes);
  }
  return std::max<uint64_t>(hash, 1);
}

// Only a rank that has entered tells its progress. Its announcement may have
// been lost, and is not repeated once a result has arrived there.
void Op::progress(TimePoint now, int peer, uint32_t slot) {
  rankEntered(now, peer);
  outbox_.noteProgress(peer, slot);
  noteProgress(now);
}

// `cut`: results of a slot that the rank left out. `hash`: of its results.
void Op::done(TimePoint now, int rank, uint32_t cut, uint64_t hash) {
  replicas_.tell(rank, hash);
  if (!attendance_.isDone(rank)) {
    resultsCutByOthers_ += std::min<uint64_t>(
        cut, uint64_t{layout_.slots(Shard(0))} * ranks_.ownersHeard());
  }
  attendance_.finish(rank);
  if (ranks_.takesSlots(rank)) {
    attendance_.passThrough(now, rank, Stage::kBroadcast);
  }
  rankEntered(now, rank);
  needsNothing(rank);
  noteProgress(now);
}

// If slots of the rank are still missing, they were lost.
void Op::noMore(TimePoint now, int rank, Stage stage) {
  if (stage == Stage::kBroadcast) {
    if (ranks_.takesSlots(rank) && runOf(rank).end(now, rank)) {
      noteEnd(now, rank, Stage::kBroadcast);
      if (ranks_.isMember(rank) ? asksForResults() : asksForSums()) {
        request(now, rank, Stage::kBroadcast);
        restart(&runOf(rank).repairs, now, rank);
      }
    }
    return;
  }
  if (!ranks_.isMember(rank) || owned_.sum().closed()) {
    return;
  }
  rankEntered(now, rank);  // else it would not know
  if (scatterRun_.end(now, rank)) {
    newsAt_ = now;
    noteEnd(now, rank, Stage::kScatter);
    if (asksForContributions()) {
      request(now, rank, Stage::kScatter);
      restart(&scatterRun_.repairs, now, rank);
    }
  }
}

// Whether this op goes on without slots of the stage that the rank does not
// repeat. Bounds by hand and those of the paper end stages alone.
bool Op::goesOnWithout(int rank, Stage stage) const {
  if (!ranks_.isMember(rank) || bounds_.byHand || bounds_.paper) {
    return false;
  }
  if (stage == Stage::kBroadcast) {
    return !call_.finished() && !needsEveryResult();
  }
  // The end of the stage decides whether slots become zero.
  return !owned_.sum().closed() && !repairsScatter() &&
         (ranks_.grouped() || !setup_.options->zeroesMajority());
}

void Op::lostHere(
    TimePoint now, int rank, Stage stage, uint32_t slot, uint32_t slots) {
  if (goesOnWithout(rank, stage)) {
    if (stage == Stage::kScatter) {
      rankEntered(now, rank);  // else it would not have sent any
    }
    reported_.add(now + setup_.host->lossAfterTrip(now, rank),
                  {rank, stage, slot, slots});
  }
}

void Op::countLost(TimePoint now, const ReportedLosses::Slots& lost) {
  const auto [rank, stage, first, slots] = lost;
  if (!goesOnWithout(rank, stage)) {
    return;
  }
  const bool scatter = stage == Stage::kScatter;
  const Shard of = ranks_.shardOf(rank);
  const Shard shard = scatter ? ranks_.shard() : of;
  const BitSet& here =
      scatter ? owned_.sum().contributed(of) : broadcast_.received(of);
  StageRun* const run = scatter ? &scatterRun_ : &broadcastRun_;
  const uint32_t end = layout_.endOfRange(shard, first, slots);
  for (uint32_t slot = first; slot < end; slot++) {
    const bool isNew =
        !here.test(slot) && run->lose(now,
                                      rank,
                                      slot,
                                      layout_.slots(shard),
                                      layout_.slotSize(shard, slot));
    if (isNew && scatter) {
      owned_.sum().lose(slot);
    }
  }
  if (run->progress().hasEnded(rank)) {
    newsAt_ = scatter ? now : newsAt_;
    noteEnd(now, rank, stage);
  }
  if (scatter) {
    slotsClosed(now);
  }
}

void Op::over(TimePoint now, int rank) {
  if (!ranks_.isMember(rank) || owned_.sum().closed()) {
    return;
  }
  attendance_.endRepeats(rank);
  noMore(now, rank, Stage::kScatter);
  noteContributions(now);
}

// This op is exact here, but was bounded at a rank that has returned and
// repeats nothing. (Warm-up may end in different ops on different ranks.) So
// the op waits only for the contributions of the other ranks.
void Op::noteContributions(TimePoint now) {
  if (!call_.entered() || call_.failed() || owned_.sum().closed() ||
      !repairsScatter()) {
    return;
  }
  for (int rank = 0; rank < ranks_.size(); rank++) {
    const bool over = rank == ranks_.rank() || attendance_.repeatsNothing(rank);
    if (!over && owesContributions(rank)) {
      return;
    }
  }
  expireScatter(now);
}

void Op::needsNothing(int rank) {
  announceSeen(rank);
  notices_.doneQuery.stop(rank);
  outbox_.stop(rank);
}

void Op::peerGone(int rank, const std::string& why) {
  const bool closed = owned_.sum().closed();
  attendance_.markGone(rank);
  needsNothing(rank);
  scatterRun_.repairs.stop(rank);
  broadcastRun_.repairs.stop(rank);
  exchangeRun_.repairs.stop(rank);
  // Where ranks form groups, its contribution may be missing in the sums of
  // other ranks, too.
  const bool owed = ranks_.grouped() ? !isAllHere()
                                     : !received(rank).all() ||
                                           (!closed && owesContributions(rank));
  if (call_.waits() && owed) {
    call_.fail({why, -1});
  }
}

void Op::enter(TimePoint now,
               std::byte* bucket,
               Form form,
               const OpBounds& bounds,
               ArenaBuffer room) {
  room_.reset();  // from now on the caller's memory holds the op
  if (call_.failed()) {
    call_.enter();
    return;
  }
  bounds_ = bounds;
  clock_.enter(now);
  bucket_.enter(bucket,
                bounds_.warmup || ranks_.grouped() ? Form::kPlain : form);
  for (Shard shard(0); shard < ranks_.members(); shard.number++) {
    if (shard == ranks_.shard() || !broadcast_.received(shard).none()) {
      bucket_.contribute(shard);
    }
  }
  // The own shard comes first: results may overwrite the own contributions to
  // other shards, which are then no longer needed.
  const Shard own = ranks_.shard();
  owned_.enter(bucket_.shard(own), bucket_.contributed()[own], std::move(room));
  call_.enter();
  broadcast_.enter(bucket);
  for (int peer = 0; peer < ranks_.size(); peer++) {
    if (peer == ranks_.rank()) {
      continue;
    }
    setup_.host->control(
        now, peer, ControlRecord::announce(setup_.id, setup_.shape), true);
    if (!attendance_.hasSeenAnnouncement(peer)) {
      scheduleNotice(&notices_.announcement, now, peer);
    }
    if (!ranks_.isMember(peer)) {
      continue;
    }
    if (needsEveryResult() && broadcastRun_.repairs.at(peer) == kNever) {
      // An owner has nothing to repeat before its scatter stage is over.
      schedule(&broadcastRun_.repairs,
               now + std::min(bounds.usual(), kFirstRequestMax),
               peer);
    }
    if (repairsScatter() && scatterRun_.repairs.at(peer) == kNever) {
      schedule(&scatterRun_.repairs, now, peer);
    }
  }
  rankEntered(now, ranks_.rank());
  startQueries(now);
  noteContributions(now);
  slotsClosed(now);
  noteProgress(now);
}

}  // namespace ubt
