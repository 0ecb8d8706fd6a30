// SPDX-License-Identifier: Apache-2.0
//
// Answers to requests of other ranks, and reports of lost slots.

#include "transport_ubt/core/op/op.h"

namespace ubt {

bool Op::repairAsked(
    TimePoint now, int peer, Stage stage, uint32_t slot, uint32_t slots) {
  if (!state_.ranks.takesSlots(peer) ||
      (stage == Stage::kScatter && !state_.ranks.isMember(peer))) {
    return true;
  }
  if (stage == Stage::kBroadcast && state_.ranks.isMember(peer)) {
    // Only a rank that has entered asks for results. Its announcement may have
    // reached an op that made way for others since (OpRoom).
    rankEntered(now, peer);
  }
  if (slots == 0) {
    moreAsked(now, peer, stage);
    return true;
  }
  const uint32_t end = state_.layout.endOfRange(stage == Stage::kScatter
                                                    ? state_.ranks.shardOf(peer)
                                                    : state_.ranks.shard(),
                                                slot,
                                                slots);
  if (stage == Stage::kBroadcast) {
    return state_.outbox.repeatResults(now, peer, slot, end);
  }
  if (state_.call.returned() && !state_.call.failed()) {
    notices_.tellOver(now, peer);
  } else if (state_.call.entered() && !state_.call.failed()) {
    state_.outbox.repeatContributions(peer, slot, end);
  }
  return true;
}

void Op::lostByPeer(
    TimePoint now, int peer, Stage stage, uint32_t slot, uint32_t slots) {
  const bool results = stage == Stage::kBroadcast;
  if (results && state_.needsEveryResult()) {
    state_.outbox.repeatResults(now, peer, slot, slot + slots);
  } else if (!results && state_.repairsScatter()) {
    if (state_.call.entered() && !state_.call.returned()) {
      state_.outbox.repeatContributions(peer, slot, slot + slots);
    }
  } else if (!state_.bounds.paper() && state_.ranks.isMember(peer)) {
    notices_.tellLost(now, peer, stage, slot, slots);
  }
}

// None of the last slots has arrived at the peer: they may be lost.
void Op::moreAsked(TimePoint now, int peer, Stage stage) {
  if (stage == Stage::kScatter && state_.call.returned() &&
      !state_.call.failed()) {
    notices_.tellOver(now, peer);
    return;
  }
  const bool mayCome =
      stage == Stage::kScatter
          ? !state_.call.entered() || state_.outbox.hasContribution(peer)
          : !(state_.ranks.isMember(peer) ? state_.owned.complete()
                                          : state_.owned.sum().closed()) ||
                state_.outbox.owesResults(peer);
  if (!mayCome) {
    notices_.tellNoMore(now, peer, stage);
  }
}

}  // namespace ubt
