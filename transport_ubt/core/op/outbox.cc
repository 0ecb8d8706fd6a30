// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/outbox.h"

#include <algorithm>

#include "transport_ubt/core/link/multicast.h"
#include "transport_ubt/core/op/stage_progress.h"

namespace ubt {
namespace {

const std::vector<uint32_t> kNoOrder;

}  // namespace

Outbox::Outbox(const Sources& from) : from_(from) {
  const OpRanks& ranks = *from.ranks;
  peers_.reserve(ranks.size());
  for (int rank = 0; rank < ranks.size(); rank++) {
    const bool member = ranks.isMember(rank);
    peers_.emplace_back(SendQueue(
        member ? from.layout->slots(ranks.shardOf(rank)) : 0,
        ranks.takesSlots(rank) ? from.layout->slots(ranks.shard()) : 0));
  }
}

void Outbox::leaveMulticast(int rank) {
  if (hearers_ == 0) {
    return;
  }
  hearers_ -= peers_[rank].byMulticast;
  peers_[rank].byMulticast = false;
  if (hearers_ < Multicast::kHearersMin) {
    for (Peer& peer : peers_) {
      peer.byMulticast = false;
    }
    hearers_ = 0;
  }
}

void Outbox::noteProgress(int rank, uint32_t slot) {
  uint32_t& progress = peers_[rank].progress;
  progress = std::max(progress, std::min(slot, from_.owned->slots()));
}

bool Outbox::isNeeded(int rank) const {
  return from_.ranks->takesSlots(rank) &&
         peers_[rank].progress < from_.owned->slots();
}

OwnedShard::Needed Outbox::needed() const {
  const uint32_t slots = from_.owned->slots();
  OwnedShard::Needed needed{slots, slots};
  for (int rank = 0; rank < from_.ranks->size(); rank++) {
    if (from_.attendance->isDone(rank) || !from_.ranks->takesSlots(rank)) {
      continue;
    }
    uint32_t& first = from_.ranks->isMember(rank) ? needed.result : needed.sum;
    first = std::min(first, peers_[rank].progress);
  }
  return needed;
}

void Outbox::repeatContributions(int rank, uint32_t slot, uint32_t end) {
  const BitSet& overwritten =
      from_.results->received(from_.ranks->shardOf(rank));
  for (; slot < end; slot++) {
    // A slot that a result has overwritten is closed at its owner.
    if (!overwritten.test(slot)) {
      peers_[rank].queue.repeatScatter(slot);
    }
  }
}

bool Outbox::isKept(int rank, uint32_t slot) const {
  return from_.owned->notRetained() == 0 || from_.attendance->isDone(rank) ||
         slot < peers_[rank].progress ||
         from_.owned->valueFor(rank, slot).isKept();
}

bool Outbox::repeatResults(TimePoint now,
                           int rank,
                           uint32_t slot,
                           uint32_t end) {
  Peer& peer = peers_[rank];
  // The order of closing says which of the closed slots were sent.
  BitSet unsent(from_.owned->slots());
  const auto& order = orderFor(rank);
  for (size_t i = peer.queue.broadcastSent(); i < order.size(); i++) {
    unsent.set(order[i]);
  }
  bool kept = true;
  for (; slot < end; slot++) {
    if (from_.owned->isClosedFor(rank, slot) && !unsent.test(slot)) {
      kept = kept && isKept(rank, slot);
      peer.queue.repeatBroadcast(slot);
    }
  }
  if (kept) {
    return true;
  }
  peer.lackedAt = std::min(peer.lackedAt, now);
  return now < peer.lackedAt + kLackGrace;
}

void Outbox::stop(int rank) {
  peers_[rank].progress = from_.owned->slots();
  stopContributions(rank);
  stopResults(rank);
  leaveMulticast(rank);
}

// The slots that are ready for a rank, in their order.
const std::vector<uint32_t>& Outbox::orderFor(int rank) const {
  return from_.ranks->takesSlots(rank) ? from_.owned->orderFor(rank) : kNoOrder;
}

bool Outbox::hasContribution(int rank) const {
  return from_.bucket->here() && !from_.attendance->hasGone(rank) &&
         peers_[rank].queue.hasScatter();
}

bool Outbox::hasData(int rank) const {
  const Peer& peer = peers_[rank];
  const size_t closed = peer.byMulticast ? 0 : orderFor(rank).size();
  return hasContribution(rank) ||
         (!from_.attendance->hasGone(rank) && peer.queue.hasBroadcast(closed));
}

bool Outbox::owesResults(int rank) const {
  const Peer& peer = peers_[rank];
  const bool unsent = peer.byMulticast
                          ? hasMulticast() || peer.queue.hasBroadcast(0)
                          : peer.queue.hasBroadcast(orderFor(rank).size());
  return unsent && !from_.attendance->hasGone(rank);
}

// Fills in a slot of the own shard for a rank. False: the arena had no room to
// keep it when the caller left.
bool Outbox::fill(int rank, DataSend* out) const {
  static_cast<OwnedShard::Value&>(*out) =
      from_.owned->valueFor(rank, out->slot);
  out->stage = Stage::kBroadcast;
  return out->isKept();
}

bool Outbox::nextResultAgain(int rank, DataSend* out) {
  while (peers_[rank].queue.nextBroadcastAgain(&out->slot)) {
    out->repair = true;
    if (fill(rank, out)) {
      return true;
    }
  }
  return false;
}

bool Outbox::nextResult(int rank, DataSend* out) {
  Peer& peer = peers_[rank];
  const auto& order = orderFor(rank);
  uint32_t index = 0;
  while (!peer.byMulticast && peer.queue.nextBroadcast(order.size(), &index)) {
    out->repair = false;
    out->slot = order[index];
    out->lastPercentile =
        index >= StageProgress::firstMarked(from_.owned->slots());
    if (fill(rank, out)) {
      return true;
    }
  }
  return false;
}

bool Outbox::nextContribution(int rank, DataSend* out) {
  if (!from_.bucket->here()) {  // the caller is away, or its call failed
    return false;
  }
  const ShardLayout& layout = *from_.layout;
  while (peers_[rank].queue.nextScatter(&out->slot, &out->repair)) {
    const Shard shard = from_.ranks->shardOf(rank);
    if (from_.results->received(shard).test(out->slot)) {
      continue;  // closed at its owner, and overwritten here
    }
    from_.bucket->contribute(shard);
    out->stage = Stage::kScatter;
    out->lastPercentile =
        from_.marksContributions && !out->repair &&
        out->slot >= StageProgress::firstMarked(layout.slots(shard));
    out->contributors = 0;
    out->form = from_.bucket->contributed()[shard];
    out->payload = from_.bucket->shard(shard) + layout.slotOffset(out->slot);
    out->payloadBytes = layout.slotSize(shard, out->slot);
    return true;
  }
  return false;
}

bool Outbox::next(int rank, bool resultsFirst, DataSend* out) {
  return nextResultAgain(rank, out) ||
         (resultsFirst && nextResult(rank, out)) ||
         nextContribution(rank, out) || nextResult(rank, out);
}

bool Outbox::hasMulticast() const {
  return hearers_ > 0 &&
         multicastNext_ < from_.owned->sum().closedOrder().size();
}

bool Outbox::nextMulticast(DataSend* out) {
  while (hasMulticast()) {
    out->slot = from_.owned->sum().closedOrder()[multicastNext_];
    out->repair = false;
    out->lastPercentile =
        multicastNext_ >= StageProgress::firstMarked(from_.owned->slots());
    multicastNext_++;
    for (Peer& peer : peers_) {
      if (peer.byMulticast) {
        peer.queue.broadcastSentTo(multicastNext_);
      }
    }
    if (fill(from_.ranks->rank(), out)) {
      return true;
    }
  }
  return false;
}

}  // namespace ubt
