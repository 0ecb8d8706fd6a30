// SPDX-License-Identifier: Apache-2.0
//
// What an op keeps in the arena for others, and gives up for lack of room.

#include <algorithm>

#include "transport_ubt/core/op/op.h"

namespace ubt {

// The first slot of the own shard whose result some member may still lack; or
// some co-owner, the group's sum.
uint32_t Op::firstNeeded(bool byMembers) const {
  uint32_t first = scatter_.slots();
  for (int rank = 0; rank < setup_.size; rank++) {
    const Peer& peer = peers_[rank];
    const bool needs =
        byMembers ? ranks_.isMember(rank) : ranks_.isCoOwner(rank);
    first = attendance_.isDone(rank) || !needs ? first
                                               : std::min(first, peer.progress);
  }
  return first;
}

// For an op that began without. Once no rank lacks the first slots any more,
// less is needed.
bool Op::reserveRetained() {
  size_t bytes = 0;
  for (const bool byMembers : {true, false}) {
    const uint32_t first = firstNeeded(byMembers);
    bytes += first == scatter_.slots() ? 0
                                       : layout_.shardSize(ranks_.place()) -
                                             layout_.slotOffset(first);
  }
  if (bytes > 0) {
    retained_ = setup_.arena->reserve(bytes);
  }
  return bytes == 0 || retained_;
}

// What contributions need to become sums at all comes first. The call can wait
// until no rank lacks the shard.
bool Op::giveRoomBack() {
  const bool any = !finished_ && retained_;
  if (any) {
    retained_.reset();
  }
  return any;
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
  held_.schedule(0, now, setup_.host->retryAfter(setup_.rank == 0 ? 1 : 0));
}

uint32_t Op::dropEarly() {
  uint32_t slots = 0;
  for (int rank = 0; needsEveryResult() && rank < setup_.size; rank++) {
    if (!ranks_.isMember(rank)) {
      continue;
    }
    BitSet& inVain = peers_[rank].broadcastInVain;
    if (inVain.size() == 0) {
      inVain = BitSet(received(rank).size());
    }
    const BroadcastStage::Dropped dropped =
        broadcast_.dropEarly(ranks_.placeOf(rank), &inVain);
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
