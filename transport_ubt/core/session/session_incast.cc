// SPDX-License-Identifier: Apache-2.0
//
// How many peers hold credit at a time (Incast).

#include <algorithm>

#include "transport_ubt/core/session/session.h"

namespace ubt {
namespace {

// The longest turn, in trains. Receivers choose senders alone, so a sender may
// have several turns at a time and be slow in each. With long turns, stages
// would wait for the last of them.
constexpr size_t kTurnTrains = 4;
// How long a sender may leave its credit unused, in times of the pause before a
// question. It may be busy with other receivers.
constexpr int kPatience = 4;

}  // namespace

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
    sender.owed = std::min<uint64_t>(
        op->slotsComing(rank),
        std::max<uint64_t>(1,
                           kTurnTrains * trainBytes() / setup_.slotBytesMax));
    if (sender.owed > 0) {
      break;
    }
  }
  const ReceiveCredit& receive = peers_[rank].receive;
  sender.next = receive.next();
  sender.waits = receive.left() == 0 && !peers_[rank].creditDue();
  sender.patience = kPatience * retryAfter(now, rank);
  return sender;
}

// The incast that this rank advertises, as a part of a credit's number.
uint64_t Session::incastOut() const {
  return incast_
             ? std::min<uint64_t>(incast_->own(), ControlRecord::kIncastMost)
                   << ControlRecord::kIncastShift
             : 0;
}

// Takes the peer's from a credit's number, and returns the limit.
uint64_t Session::incastIn(int peer, uint64_t credit) {
  if (!incast_) {
    return credit;
  }
  incast_->heard(peer,
                 static_cast<int>(credit >> ControlRecord::kIncastShift &
                                  ControlRecord::kIncastMost));
  return credit & ((uint64_t{1} << ControlRecord::kIncastShift) - 1);
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
