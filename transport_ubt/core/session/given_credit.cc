// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/session/given_credit.h"

#include <algorithm>

#include "transport_ubt/core/wire/control.h"

namespace ubt {
namespace {

// With the paper's loops: the longest turn of a sender, in trains. Receivers
// choose senders alone, so a sender may have several turns at a time and be
// slow in each. With long turns, stages would wait for the last of them.
constexpr size_t kTurnTrains = 4;
// How long a sender may leave its credit unused, in times of the pause before a
// question. It may be busy with other receivers.
constexpr int kPatience = 4;

}  // namespace

GivenCredit::GivenCredit(SessionState* session)
    : session_(session),
      grants_(session->setup.size - 1,
              session->setup.slotBytesMax + PacketHeader::kBytes) {
  if (session->setup.options.loops == Loops::kPaper) {
    incast_.emplace(session->setup.rank, session->setup.size);
  }
}

CreditGrants::Load GivenCredit::loadOf(int peer) const {
  const uint64_t bytes = session_->shared->window.bytes();
  CreditGrants::Load load;
  load.windowBytes = bytes - session_->multicast.windowBytes(bytes);
  load.senders = session_->shared->activeSenders;
  if (!session_->setup.options.has(Loop::kShares)) {
    return load;
  }
  for (const Op* const op : session_->ops.oldestFirst()) {
    load.owed += op->slotsAwaited(peer);
    load.owedByAll += op->slotsAwaited();
    // The first op that a caller waits for comes first.
    if (op->entered() && load.owedByAll > 0) {
      break;
    }
  }
  return load;
}

// The slots of credit that all other peers hold.
uint64_t GivenCredit::heldBeside(int peer) const {
  uint64_t held = 0;
  for (int other = 0; other < session_->setup.size; other++) {
    if (other != peer && other != session_->setup.rank) {
      held += session_->peers[other].receive.left();
    }
  }
  return held;
}

// The slots that a peer may have in flight to this rank.
uint64_t GivenCredit::shareOf(int peer, const CreditGrants::Load& load) const {
  if (!incast_ || !incast_->limits()) {
    return grants_.share(load);
  }
  if (!incast_->admits(peer)) {
    return 1;
  }
  // Nothing is left of the turn when it ends.
  return std::max<uint64_t>(
      1,
      std::min(grants_.turnShare(load, incast_->senders()),
               incast_->left(peer, session_->peers[peer].receive.next())));
}

void GivenCredit::consider(TimePoint now, int rank) {
  passTurns(now);
  if (incast_ && !incast_->admits(rank)) {
    return;  // the rank gets a slot when it asks
  }
  PeerLink& peer = session_->peers[rank];
  if (peer.creditDue() && peer.controlDue() <= now) {
    return;
  }
  const TimePoint due =
      CreditGrants::dueAt(now,
                          shareOf(rank, loadOf(rank)),
                          peer.receive.left(),
                          kNever,
                          session_->setup.options.has(Loop::kEarlyCredit));
  if (due != kNever) {
    peer.creditBy(due);
  }
}

void GivenCredit::write(int rank, WriteCursor* out) {
  PeerLink& peer = session_->peers[rank];
  CreditGrants::Load load = loadOf(rank);
  load.held = heldBeside(rank);
  peer.receive.grant(shareOf(rank, load));
  ControlRecord record;
  record.type = ControlType::kCredit;
  record.number = peer.receive.limit() | incastOut();
  if (session_->ops.any([](const Op& op) { return op.wantsResults(); })) {
    record.number |= ControlRecord::kWantsResults;
  }
  record.encode(out);
  writeHears(rank, out);
  for (const auto& [id, op] : session_->ops) {
    if (peer.creditDue() && out->left() >= ControlRecord::kBytesMax &&
        op->entered() && op->progressRecord(rank, &record)) {
      record.encode(out);
    }
  }
}

uint64_t GivenCredit::multicastShare() const {
  return grants_.multicastShare(
      session_->multicast.windowBytes(session_->shared->window.bytes()));
}

void GivenCredit::answerMulticast(TimePoint now, int owner) {
  session_->multicast.answer(owner);
  session_->peers[owner].creditBy(
      CreditGrants::dueAt(now,
                          multicastShare(),
                          session_->multicast.from(owner)->receive.left(),
                          now + Multicast::kAnswerWithin));
}

void GivenCredit::writeHears(int owner, WriteCursor* out) {
  ControlRecord record;
  if (out->left() >= ControlRecord::kBytesMax &&
      session_->multicast.answerOut(owner, multicastShare(), &record)) {
    record.encode(out);
  }
}

Incast::Sender GivenCredit::senderOf(TimePoint now, int rank) const {
  Incast::Sender sender;
  if (rank == session_->setup.rank || session_->peers[rank].closed()) {
    return sender;
  }
  const PeerLink& peer = session_->peers[rank];
  const uint64_t most = std::max<uint64_t>(
      1,
      kTurnTrains * session_->trainBytes(now) / session_->setup.slotBytesMax);
  for (const Op* const op : session_->ops.oldestFirst()) {
    sender.owed = std::min<uint64_t>(op->slotsComing(rank), most);
    if (sender.owed > 0) {
      break;
    }
  }
  sender.next = peer.receive.next();
  sender.waits = peer.receive.left() == 0 && !peer.creditDue();
  sender.patience = kPatience * session_->retryAfter(now, rank);
  return sender;
}

// The incast that this rank advertises, as a part of a credit's number.
uint64_t GivenCredit::incastOut() const {
  return incast_
             ? std::min<uint64_t>(incast_->own(), ControlRecord::kIncastMost)
                   << ControlRecord::kIncastShift
             : 0;
}

uint64_t GivenCredit::limitIn(int peer, uint64_t number) {
  if (!incast_) {
    return number;
  }
  incast_->heard(peer,
                 static_cast<int>(number >> ControlRecord::kIncastShift &
                                  ControlRecord::kIncastMost));
  return number & ((uint64_t{1} << ControlRecord::kIncastShift) - 1);
}

// Senders whose turn begins get credit at once. The others get one slot: once
// it is used up, they have data and wait for a turn.
void GivenCredit::passTurns(TimePoint now) {
  if (incast_) {
    incast_->turn(
        now,
        [&](int rank) { return senderOf(now, rank); },
        [&](int rank) { session_->peers[rank].creditBy(now); });
  }
}

void GivenCredit::opEntered(TimePoint now) {
  if (!incast_) {
    return;
  }
  incast_->restart();
  // The paper's bounds take no account of trains, so their length must not
  // change.
  session_->shared->trains.shorten(now);
  passTurns(now);
}

void GivenCredit::opReturned(const OpSample& op) {
  if (incast_) {
    incast_->returned(op.missing(), op.expired());
  }
}

}  // namespace ubt
