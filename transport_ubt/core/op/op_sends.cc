// SPDX-License-Identifier: Apache-2.0
//
// Requests for repeats.

#include "transport_ubt/core/op/op.h"

namespace ubt {

bool Op::repairAsked(
    TimePoint now, int peer, Stage stage, uint32_t slot, uint32_t slots) {
  if (!ranks_.takesSlots(peer) ||
      (stage == Stage::kScatter && !ranks_.isMember(peer))) {
    return true;
  }
  if (slots == 0) {
    moreAsked(now, peer, stage);
    return true;
  }
  if (stage == Stage::kBroadcast) {
    rankEntered(now, peer);  // only a rank that has entered asks for results
  }
  const uint32_t end = layout_.endOfRange(
      stage == Stage::kScatter ? ranks_.shardOf(peer) : ranks_.shard(),
      slot,
      slots);
  if (stage == Stage::kBroadcast) {
    return outbox_.repeatResults(now, peer, slot, end);
  }
  if (call_.returned() && !call_.failed()) {
    sayOver(now, peer);
  } else if (call_.entered() && !call_.failed()) {
    outbox_.repeatContributions(peer, slot, end);
  }
  return true;
}

void Op::lostByPeer(
    TimePoint now, int peer, Stage stage, uint32_t slot, uint32_t slots) {
  const bool results = stage == Stage::kBroadcast;
  if (results && needsEveryResult()) {
    outbox_.repeatResults(now, peer, slot, slot + slots);
  } else if (!results && repairsScatter()) {
    if (call_.entered() && !call_.returned()) {
      outbox_.repeatContributions(peer, slot, slot + slots);
    }
  } else if (!bounds_.paper && ranks_.isMember(peer)) {
    ControlRecord record =
        ControlRecord::about(ControlType::kLostSlots, setup_.id);
    record.stage = stage;
    record.slot = slot;
    record.slots = slots;
    setup_.host->control(now, peer, record, true);
  }
}

void Op::sayNoMore(TimePoint now, int peer, Stage stage) {
  ControlRecord record = ControlRecord::about(ControlType::kNoMore, setup_.id);
  record.stage = stage;
  setup_.host->control(now, peer, record, true);
}

void Op::sayOver(TimePoint now, int peer) {
  setup_.host->control(
      now, peer, ControlRecord::about(ControlType::kOver, setup_.id), true);
}

// The peer has not seen the marks of the last slots: they may be lost.
void Op::moreAsked(TimePoint now, int peer, Stage stage) {
  if (stage == Stage::kScatter && call_.returned() && !call_.failed()) {
    sayOver(now, peer);
    return;
  }
  const bool mayCome = stage == Stage::kScatter
                           ? !call_.entered() || outbox_.hasContribution(peer)
                           : !(ranks_.isMember(peer) ? owned_.complete()
                                                     : owned_.sum().closed()) ||
                                 outbox_.owesResults(peer);
  if (!mayCome) {
    sayNoMore(now, peer, stage);
  }
}

bool Op::progressRecord(int peer, ControlRecord* out) const {
  const BitSet& here = received(peer);
  if (call_.returned() || here.none()) {
    return false;
  }
  *out = ControlRecord::about(ControlType::kProgress, setup_.id);
  out->slot = static_cast<uint32_t>(here.firstClear(0));
  return true;
}

}  // namespace ubt
