// SPDX-License-Identifier: Apache-2.0
//
// What an op has to send to whom: contributions, results, and repeats of both.

#include <algorithm>

#include "transport_ubt/core/link/multicast.h"
#include "transport_ubt/core/op/op.h"

namespace ubt {
namespace {

// What is not sent by this times all stages' bounds holds up no other op.
constexpr int kOwesStages = 4;

}  // namespace

bool Op::repairAsked(
    TimePoint now, int peer, Stage stage, uint32_t slot, uint32_t slots) {
  SendQueue& queue = peers_[peer].queue;
  if (!takesSlots(peer) ||
      (stage == Stage::kScatter && !ranks_.isMember(peer))) {
    return true;
  }
  if (stage == Stage::kBroadcast) {
    rankEntered(now, peer);  // only who has entered asks for results
  }
  const uint32_t limit = layout_.slots(
      stage == Stage::kScatter ? ranks_.placeOf(peer) : ranks_.place());
  const uint32_t end = slot + std::min(slots, limit - std::min(slot, limit));
  if (stage == Stage::kScatter && returned_ && failure_.empty()) {
    setup_.host->control(
        peer, ControlRecord::about(ControlType::kNoMore, setup_.id), true);
    return true;
  }
  if (stage == Stage::kScatter) {
    for (; entered_ && failure_.empty() && slot < end; slot++) {
      // What was overwritten by the result is closed there anyway.
      if (!received(peer).test(slot)) {
        queue.repeatScatter(slot);
      }
    }
    return true;
  }
  // The order of closing says which of the closed slots were sent.
  BitSet unsent(limit);
  const auto& order = orderFor(peer);
  for (size_t i = queue.broadcastSent(); i < order.size(); i++) {
    unsent.set(order[i]);
  }
  const auto isKept = [&](uint32_t wanted) {
    DataSend send;
    send.slot = wanted;
    return owned_.notRetained() == 0 || attendance_.isDone(peer) ||
           wanted < peers_[peer].progress || result(peer, &send);
  };
  bool kept = true;
  for (; slot < end; slot++) {
    if (owned_.isClosedFor(peer, slot) && !unsent.test(slot)) {
      kept = kept && isKept(slot);
      queue.repeatBroadcast(slot);
    }
  }
  if (kept) {
    return true;
  }
  // The request may be older than the slot's arrival. One that was sent a while
  // after the first is not.
  TimePoint& first = peers_[peer].lackedAt;
  first = std::min(first, now);
  return now < first + setup_.host->retryAfter(peer);
}

bool Op::hasContribution(int rank) const {
  return bucket_.here() && !attendance_.hasGone(rank) &&
         peers_[rank].queue.hasScatter();
}

bool Op::hasData(int rank) const {
  const Peer& peer = peers_[rank];
  const size_t closed = peer.inGroup ? 0 : orderFor(rank).size();
  return hasContribution(rank) ||
         (!attendance_.hasGone(rank) && peer.queue.hasBroadcast(closed));
}

// Completes what is to be sent to a rank of a slot of the own shard: to a
// co-owner the group's sum, to a member the result. False: the arena had no
// room to keep it when the caller left.
bool Op::result(int rank, DataSend* out) const {
  out->stage = Stage::kBroadcast;
  const OwnedShard::Value value = owned_.valueFor(rank, out->slot);
  out->contributors = value.contributors;
  out->form = value.form;
  out->partial = value.partial;
  out->payload = value.payload;
  out->payloadBytes = value.payloadBytes;
  return out->payload != nullptr || out->contributors == 0;
}

// A slot of the own shard: one that the peer asked for again, or the next new
// one.
bool Op::nextResult(int rank, bool again, DataSend* out) {
  Peer& peer = peers_[rank];
  const auto& order = orderFor(rank);
  uint32_t index = 0;
  while (again ? peer.queue.nextBroadcastAgain(&out->slot)
               : !peer.inGroup &&
                     peer.queue.nextBroadcast(order.size(), &index)) {
    out->repair = again;
    if (!again) {
      out->slot = order[index];
      out->lastPercentile = index >= StageProgress::firstMarked(owned_.slots());
    }
    if (result(rank, out)) {
      return true;
    }
  }
  return false;
}

// Who gets results with the others is settled when the op begins here: so all
// of them have been sent the same.
void Op::joinGroup() {
  for (int rank = 0; rank < setup_.size; rank++) {
    peers_[rank].inGroup = setup_.host->hearsGroup(rank);
    groupPeers_ += peers_[rank].inGroup;
  }
  leaveGroup(setup_.rank);  // never was in it; but one alone needs no group
}

void Op::leaveGroup(int rank) {
  if (groupPeers_ == 0) {
    return;
  }
  groupPeers_ -= peers_[rank].inGroup;
  peers_[rank].inGroup = false;
  if (groupPeers_ < Multicast::kHearersMin) {
    for (Peer& peer : peers_) {
      peer.inGroup = false;
    }
    groupPeers_ = 0;
  }
}

bool Op::hasGroupData() const {
  return groupPeers_ > 0 && groupNext_ < owned_.sum().closedOrder().size();
}

TimePoint Op::owesUntil() const {
  const Duration stages =
      bounds_.scatter + bounds_.exchange + bounds_.broadcast;
  return clock_.enteredAt() + std::min(bounds_.limit, kOwesStages * stages);
}

bool Op::owesResults(TimePoint now) const {
  if (!returned_ || !needsEveryResult() || now >= owesUntil()) {
    return false;
  }
  for (int rank = 0; rank < setup_.size; rank++) {
    const Peer& peer = peers_[rank];
    const StageBytes& came =
        ranks_.isCoOwner(rank) ? peer.broadcast : peer.scatter;
    const bool unsent = peer.inGroup
                            ? hasGroupData() || peer.queue.hasBroadcast(0)
                            : peer.queue.hasBroadcast(orderFor(rank).size());
    if (unsent && !attendance_.hasGone(rank) && came.received > 0) {
      return true;
    }
  }
  return false;
}

bool Op::nextGroupData(DataSend* out) {
  while (hasGroupData()) {
    out->slot = owned_.sum().closedOrder()[groupNext_];
    out->repair = false;
    out->lastPercentile =
        groupNext_ >= StageProgress::firstMarked(owned_.slots());
    groupNext_++;
    for (Peer& peer : peers_) {
      if (peer.inGroup) {
        peer.queue.broadcastSentTo(groupNext_);
      }
    }
    if (result(setup_.rank, out)) {
      return true;
    }
  }
  return false;
}

bool Op::nextContribution(int rank, DataSend* out) {
  if (!bucket_.here()) {  // away, or failed before it came
    return false;
  }
  SendQueue& queue = peers_[rank].queue;
  while (queue.nextScatter(&out->slot, &out->repair)) {
    const int shard = ranks_.placeOf(rank);
    if (broadcast_.received(shard).test(out->slot)) {
      continue;  // closed there, and overwritten here
    }
    bucket_.contribute(shard);
    out->stage = Stage::kScatter;
    out->lastPercentile =
        out->slot >= StageProgress::firstMarked(layout_.slots(shard));
    out->contributors = 0;
    out->form = bucket_.contributed()[shard];
    out->payload = bucket_.shard(shard) + layout_.slotOffset(out->slot);
    out->payloadBytes = layout_.slotSize(shard, out->slot);
    return true;
  }
  return false;
}

// Contributions before results: a stage that is interrupted by the next one
// takes longer than it needs, and so does its bound; and owners could not tell
// a rank that does something else first from one that has stopped.
bool Op::nextData(int rank, DataSend* out) {
  return nextResult(rank, true, out) || nextContribution(rank, out) ||
         nextResult(rank, false, out);
}

bool Op::progressRecord(int peer, ControlRecord* out) const {
  const BitSet& here = received(peer);
  if (returned_ || here.none()) {
    return false;
  }
  *out = ControlRecord::about(ControlType::kProgress, setup_.id);
  out->slot = static_cast<uint32_t>(here.firstClear(0));
  return true;
}

}  // namespace ubt
