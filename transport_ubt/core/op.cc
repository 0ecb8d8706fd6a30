// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op.h"

#include <algorithm>
#include <utility>

namespace ubt {
namespace {

// Results of which nothing has come are asked for after this, at the latest.
constexpr Duration kFirstRequestMax = std::chrono::milliseconds(50);
// What the allocator and a session's table of ops take beside an op.
constexpr size_t kNodeBytes = 256;

// Marks a slot, of `slots`; false if it was before.
bool mark(BitSet* marks, uint32_t slots, uint32_t slot) {
  if (marks->size() == 0) {
    *marks = BitSet(slots);
  }
  return marks->set(slot);
}

}  // namespace

Op::Op(const Setup& setup,
       const OpBounds& bounds,
       TimePoint now,
       ArenaBuffer room)
    : setup_(setup),
      layout_(setup.shape, setup.size, setup.slotBytesMax),
      room_(std::move(room)),
      bounds_(bounds),
      scatter_(layout_,
               {setup.shape.type,
                setup.rank,
                setup.size,
                setup.options->order,
                seedOf(setup.id, setup.rank),
                setup.reduction,
                setup.arena}),
      broadcast_(layout_, setup.rank, setup.size, setup.arena),
      contributed_(setup.size, Form::kPlain),
      scatterProgress_(setup.size),
      broadcastProgress_(setup.size),
      started_(now),
      scatterDeadline_(now + bounds.scatter) {
  peers_.reserve(setup.size);
  for (int peer = 0; peer < setup.size; peer++) {
    peers_.emplace_back(
        SendQueue(layout_.slots(peer), layout_.slots(setup.rank)));
    // The contribution leaves only once the caller has brought it.
    peers_.back().scatter.expected = layout_.shardSize(setup.rank);
    peers_.back().broadcast.expected = layout_.shardSize(peer);
    if (peer != setup.rank) {
      scatterProgress_.expect(peer, layout_.slots(setup.rank));
      broadcastProgress_.expect(peer, layout_.slots(peer));
    }
  }
  peers_[setup.rank].scatter = {};
  peers_[setup.rank].broadcast = {};
  peers_[setup.rank].done = true;
  joinGroup();
  if (scatter_.closed()) {  // an empty shard: nothing to own
    scatterDeadline_ = kNever;
    settleScatter();
  }
}

size_t Op::bytesFor(const ShardLayout& layout, int rank, int size) {
  size_t bytes = sizeof(Op) + kNodeBytes + size * sizeof(Peer) +
                 ScatterStage::bytesFor(layout, rank, size) +
                 BroadcastStage::bytesFor(layout, rank, size) +
                 2 * StageProgress::bytesFor(size);
  for (int peer = 0; peer < size; peer++) {
    // The queue, and as many bits of slots that came in vain.
    bytes += 2 * SendQueue::bytesFor(layout.slots(peer), layout.slots(rank));
  }
  return bytes;
}

bool Op::repairsScatter() const {
  return bounds_.warmup || setup_.options->repair == RepairPolicy::kBoth;
}

bool Op::repairsBroadcast() const {
  return needsEveryResult() || setup_.options->repair != RepairPolicy::kNone;
}

// Who lacks a result cannot tell what others make of it.
bool Op::needsEveryResult() const {
  return bounds_.warmup || setup_.options->skipLoss > 0;
}

void Op::announced(int rank, const OpShape& shape) {
  Peer& peer = peers_[rank];
  peer.announced = true;
  if (peer.announceHeard) {
    // It asks again. Results or the end of the op tell it as well; only if
    // those take longer is there something to answer.
    setup_.host->control(
        rank,
        ControlRecord::about(ControlType::kAnnounceSeen, setup_.id),
        false);
  }
  peer.announceHeard = true;
  if (shape != setup_.shape) {
    disagree(rank, shape);
  }
}

Counter Op::data(TimePoint now,
                 const PacketHeader& header,
                 const std::byte* payload,
                 size_t payloadBytes) {
  const bool scatter = header.stage == Stage::kScatter;
  const int shard = scatter ? setup_.rank : header.source;
  if (header.elementType != setup_.shape.type ||
      (scatter && header.elements != setup_.shape.elements) ||
      header.slot >= layout_.slots(shard)) {
    return Counter::kMismatched;
  }
  const bool empty = !scatter && header.contributors == 0;
  if (payloadBytes != (empty ? 0 : layout_.slotSize(shard, header.slot)) ||
      header.contributors > setup_.size) {
    return Counter::kMismatched;
  }
  return scatter ? scatterData(now, header, payload)
                 : broadcastData(now, header, payload);
}

Counter Op::scatterData(TimePoint now,
                        const PacketHeader& header,
                        const std::byte* payload) {
  Peer& peer = peers_[header.source];
  const size_t bytes = layout_.slotSize(setup_.rank, header.slot);
  const auto add = [&] {
    return scatter_.add(header.source, header.slot, header.form, payload);
  };
  auto outcome = add();
  if (outcome == ScatterStage::Outcome::kArenaFull && setup_.host->makeRoom()) {
    outcome = add();
  }
  switch (outcome) {
    case ScatterStage::Outcome::kArenaFull:
      peer.announced = true;
      mark(&peer.scatterInVain, scatter_.slots(), header.slot);
      return Counter::kArenaFull;
    case ScatterStage::Outcome::kDuplicate:
      return Counter::kDuplicateData;
    case ScatterStage::Outcome::kMismatched:
      return Counter::kMismatched;
    case ScatterStage::Outcome::kLate:
      if (mark(&peer.scatterInVain, scatter_.slots(), header.slot) &&
          peer.scatter.lost >= bytes) {  // it was not lost after all
        peer.scatter.lost -= bytes;
        peer.scatter.late += bytes;
        scatterCutShort_ = scatterExpired_;
      }
      if (now >= peer.closedNotice.at || peer.closedNotice.at == kNever) {
        setup_.host->control(
            header.source,
            ControlRecord::about(ControlType::kClosed, setup_.id),
            true);
        schedule(&peer.closedNotice, now, header.source);
      }
      return Counter::kLateData;
    case ScatterStage::Outcome::kAccepted:
      break;
  }
  peer.announced = true;  // data is as good as an announcement
  peer.scatter.received += bytes;
  peer.scatter.repaired += header.repair ? bytes : 0;
  scatterProgress_.arrived(now, header.source, header.lastPercentile);
  if (repairsScatter()) {
    peer.scatterRepair.tries = 0;
    schedule(&peer.scatterRepair, now, header.source);
  }
  if (scatter_.closed()) {
    closeScatter(now);
  }
  return Counter::kAcceptedData;
}

Counter Op::broadcastData(TimePoint now,
                          const PacketHeader& header,
                          const std::byte* payload) {
  if (returned_ && broadcast_.received(header.source).test(header.slot)) {
    return Counter::kDuplicateData;
  }
  Peer& peer = peers_[header.source];
  const size_t bytes = layout_.slotSize(header.source, header.slot);
  const BitSet& taken = broadcast_.received(header.source);
  if (returned_) {
    broadcastCutShort_ = endedBy_ != EndedBy::kComplete;
    if (mark(&peer.broadcastInVain, taken.size(), header.slot) &&
        peer.broadcast.lost >= bytes) {
      peer.broadcast.lost -= bytes;
      peer.broadcast.late += bytes;
    }
    return Counter::kLateData;
  }
  if (entered_ && finished_) {
    if (!taken.test(header.slot) &&
        mark(&peer.broadcastInVain, taken.size(), header.slot)) {
      peer.broadcast.late += bytes;
      broadcastCutShort_ = endedBy_ != EndedBy::kComplete;
    }
    return Counter::kLateData;
  }
  switch (broadcast_.add(
      header.source, header.slot, header.contributors, header.form, payload)) {
    case BroadcastStage::Outcome::kArenaFull:
      mark(&peer.broadcastInVain, taken.size(), header.slot);
      return Counter::kArenaFull;
    case BroadcastStage::Outcome::kDuplicate:
      return Counter::kDuplicateData;
    case BroadcastStage::Outcome::kMismatched:
      return Counter::kMismatched;
    case BroadcastStage::Outcome::kAccepted:
      break;
  }
  peer.announceSeen = true;  // or its scatter stage ended without us anyway
  peer.broadcast.received += bytes;
  peer.broadcast.repaired += header.repair ? bytes : 0;
  broadcastProgress_.arrived(now, header.source, header.lastPercentile);
  if (firstResult_ == kNever) {
    firstResult_ = now;
  }
  peer.broadcastRepair.tries = 0;
  schedule(&peer.broadcastRepair, now, header.source);
  if (broadcast_.complete()) {
    resultsTook_ = std::max(now - firstResult_, Duration{1});
  }
  noteProgress(now);
  return Counter::kAcceptedData;
}

void Op::closeScatter(TimePoint now) {
  scatterDeadline_ = kNever;
  scatterClosed_ = now;
  if (!scatterExpired_) {
    scatterTook_ = std::max(now - started_, Duration{1});
  }
  settleScatter();
  noteProgress(now);
}

void Op::noteProgress(TimePoint now) {
  if (!entered_ || finished_ || !scatter_.closed() || !broadcast_.complete()) {
    return;
  }
  if (broadcastTook_ == Duration{0}) {
    broadcastTook_ =
        std::max(now - std::max(scatterClosed_, entry_), Duration{1});
  }
  if (needsEveryResult() && !canRetain()) {
    if (held_.at == kNever) {
      tellProgress(now);
    }
    return;
  }
  finish(EndedBy::kComplete);
}

void Op::finish(EndedBy endedBy) {
  finished_ = true;
  endedBy_ = endedBy;
}

void Op::progress(TimePoint now, int peer, uint32_t slot) {
  peers_[peer].progress = std::max(peers_[peer].progress,
                                   std::min(slot, layout_.slots(setup_.rank)));
  noteProgress(now);
}

void Op::done(TimePoint now, int rank) {
  peersDone_ += !peers_[rank].done;
  if (2 * peersDone_ > setup_.size && mostDone_ == kNever) {
    mostDone_ = now;
  }
  needsNothing(rank);
  noteProgress(now);
}

void Op::needsNothing(int rank) {
  Peer& peer = peers_[rank];
  peer.done = true;
  peer.announced = true;
  peer.announceSeen = true;
  peer.progress = layout_.slots(setup_.rank);
  peer.queue.stopScatter();
  peer.queue.stopBroadcast();
  leaveGroup(rank);
}

void Op::peerGone(int rank, const std::string& why) {
  const bool announced = peers_[rank].announced;
  const bool closed = scatter_.closed();
  needsNothing(rank);
  peers_[rank].announced = announced;
  peers_[rank].gone = true;
  const bool owed = !broadcast_.complete(rank) ||
                    (!closed && !scatter_.contributed(rank).all());
  if (entered_ && !finished_ && owed) {
    fail(why);
  }
}

void Op::enter(TimePoint now,
               std::byte* bucket,
               Form form,
               const OpBounds& bounds) {
  room_.reset();  // from now on it is the caller's
  if (!failure_.empty()) {
    entered_ = true;
    return;
  }
  bounds_ = bounds;
  entry_ = now;
  endDeadline_ = now + bounds.end;
  bucket_ = bucket;
  contribute(form);
  // The own shard first: results of others may take the places of the own
  // contributions to them, which are then no longer needed.
  scatter_.enter(bucket + layout_.shardOffset(setup_.rank),
                 contributed_[setup_.rank]);
  entered_ = true;
  broadcast_.enter(bucket);
  for (int peer = 0; peer < setup_.size; peer++) {
    if (peer == setup_.rank) {
      continue;
    }
    setup_.host->control(
        peer, ControlRecord::announce(setup_.id, setup_.shape), true);
    schedule(&peers_[peer].announce, now, peer);
    if (repairsBroadcast() && peers_[peer].broadcastRepair.at == kNever) {
      // An owner has nothing to repeat before its scatter stage is over.
      schedule(&peers_[peer].broadcastRepair,
               now + std::min(bounds.scatter, kFirstRequestMax),
               peer);
    }
    if (repairsScatter() && peers_[peer].scatterRepair.at == kNever) {
      schedule(&peers_[peer].scatterRepair, now, peer);
    }
  }
  if (broadcast_.complete() && resultsTook_ == Duration{0}) {
    resultsTook_ = Duration{1};
  }
  if (scatter_.closed()) {
    closeScatter(now);
  } else {
    scatterDeadline_ = started_ + bounds.scatter;
  }
  noteProgress(now);
}

int Op::firstNotDone() const {
  for (int rank = 0; rank < setup_.size; rank++) {
    if (!peers_[rank].done) {
      return rank;
    }
  }
  return -1;
}

}  // namespace ubt
