// SPDX-License-Identifier: Apache-2.0
//
// How many peers hold credit at a time (Incast).

#include <algorithm>

#include "transport_ubt/core/session/session.h"

namespace ubt {

// The slots that a peer may have in flight to this rank.
uint64_t Session::shareOf(int rank, const CreditGrants::Load& load) const {
  if (!incast_ || !incast_->limits()) {
    return grants_.share(load);
  }
  if (!incast_->admits(rank)) {
    return 1;
  }
  // Nothing is left of the turn when it ends.
  return std::max<uint64_t>(
      1,
      std::min(grants_.turnShare(load, incast_->senders()),
               incast_->left(rank, peers_[rank].receive.next())));
}

Incast::Sender Session::senderOf(TimePoint now, int rank) const {
  Incast::Sender sender;
  if (rank == setup_.rank || peers_[rank].closed()) {
    return sender;
  }
  for (const auto& [id, op] : ops_) {
    sender.owed = op->slotsComing(rank);
    if (sender.owed > 0) {
      break;
    }
  }
  const ReceiveCredit& receive = peers_[rank].receive;
  sender.next = receive.next();
  sender.waits = receive.left() == 0;
  sender.patience = retryAfter(now, rank);
  return sender;
}

// Senders whose turn begins get credit at once. The others get one slot: once
// it is used up, they have data and wait for a turn.
void Session::passTurns(TimePoint now) {
  if (incast_) {
    incast_->turn(
        now,
        [&](int rank) { return senderOf(now, rank); },
        [&](int rank) { peers_[rank].creditBy(now); });
  }
}

}  // namespace ubt
