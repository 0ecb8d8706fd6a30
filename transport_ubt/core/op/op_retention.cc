// SPDX-License-Identifier: Apache-2.0
//
// An op gives up memory when the arena is full.

#include "transport_ubt/core/op/op.h"

namespace ubt {

// The others may lack room, too, and wait to hear that this rank has all
// results.
void Op::tellProgress(TimePoint now) {
  for (int peer = 0; peer < state_.ranks.size(); peer++) {
    ControlRecord record;
    if (peer != state_.ranks.rank() && progressRecord(peer, &record)) {
      state_.setup.host->control(now, peer, record, true);
    }
  }
  notices_.progressToAll.schedule(
      0,
      now,
      state_.setup.host->retryAfter(now, state_.ranks.rank() == 0 ? 1 : 0));
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
