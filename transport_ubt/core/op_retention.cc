// SPDX-License-Identifier: Apache-2.0
//
// What an op keeps in the arena for others, and gives up for lack of room.

#include <algorithm>

#include "transport_ubt/core/op.h"

namespace ubt {

// The first slot of the own shard that some rank may still lack.
uint32_t Op::firstNeeded() const {
  uint32_t first = layout_.slots(setup_.rank);
  for (const Peer& peer : peers_) {
    first = peer.done ? first : std::min(first, peer.progress);
  }
  return first;
}

// Whether the arena could keep for others what they may still lack. If not, an
// op of which every rank needs all stays here, where the bucket holds it.
bool Op::canRetain() const {
  const uint32_t first = firstNeeded();
  return first == layout_.slots(setup_.rank) ||
         setup_.arena->hasRoom(layout_.shardSize(setup_.rank) -
                               layout_.slotOffset(first));
}

// The others may be held up for the same reason: they should know that this
// rank has got everything.
void Op::tellProgress(TimePoint now) {
  for (int peer = 0; peer < setup_.size; peer++) {
    ControlRecord record;
    if (peer != setup_.rank && progressRecord(peer, &record)) {
      setup_.host->control(peer, record, true);
    }
  }
  schedule(&held_, now, setup_.rank == 0 ? 1 : 0);
}

uint32_t Op::dropEarly() {
  uint32_t slots = 0;
  for (int rank = 0; repairsBroadcast() && rank < setup_.size; rank++) {
    BitSet& inVain = peers_[rank].broadcastInVain;
    if (inVain.size() == 0) {
      inVain = BitSet(broadcast_.received(rank).size());
    }
    const BroadcastStage::Dropped dropped = broadcast_.dropEarly(rank, &inVain);
    StageBytes& bytes = peers_[rank].broadcast;
    bytes.received -= dropped.bytes;
    bytes.repaired = std::min(bytes.repaired, bytes.received);
    slots += dropped.slots;
  }
  if (slots > 0) {  // how long the stage takes is open again
    resultsTook_ = broadcastTook_ = Duration{0};
    firstResult_ = kNever;
  }
  return slots;
}

}  // namespace ubt
