// SPDX-License-Identifier: Apache-2.0
//
// What an op gives up when the arena is full.

#include "transport_ubt/core/op/op.h"

namespace ubt {

// The others may lack room, too, and wait to hear that this rank has all
// results.
void Op::tellProgress(TimePoint now) {
  for (int peer = 0; peer < ranks_.size(); peer++) {
    ControlRecord record;
    if (peer != ranks_.rank() && progressRecord(peer, &record)) {
      setup_.host->control(now, peer, record, true);
    }
  }
  notices_.progressToAll.schedule(
      0, now, setup_.host->retryAfter(now, ranks_.rank() == 0 ? 1 : 0));
}

uint32_t Op::dropEarly() {
  uint32_t slots = 0;
  for (int rank = 0; needsEveryResult() && rank < ranks_.size(); rank++) {
    if (!ranks_.isMember(rank)) {
      continue;
    }
    const BroadcastStage::Dropped dropped = broadcast_.dropEarly(
        ranks_.shardOf(rank),
        &broadcastRun_.turnedAway(rank, received(rank).size()));
    broadcastRun_.dropped(rank, dropped.bytes);
    slots += dropped.slots;
  }
  return slots;
}

}  // namespace ubt
