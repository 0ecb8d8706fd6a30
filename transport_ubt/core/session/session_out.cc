// SPDX-License-Identifier: Apache-2.0
//
// The datagrams that a session sends, and its deadlines.

#include <algorithm>
#include <functional>

#include "transport_ubt/core/session/session.h"

namespace ubt {
namespace {

// Limits how short trains are cut: trains to all peers together have at least
// kRoundBytes, and a shard has at most kTrainsInShard of them.
constexpr size_t kRoundBytes = 512 << 10;
constexpr size_t kTrainsInShard = 8;
// The pause between questions for credit, in times of the first one.
constexpr int kAskAgain = 4;

}  // namespace

bool Session::hasData(int peer) const {
  return ops_.any([peer](const Op& op) { return op.outbox().hasData(peer); });
}

// The oldest op with data that has credit. Null: any op may go first. An older
// op's data to any rank leaves before a newer op's data to other ranks.
// Otherwise a rank that is ahead delays the results of the ranks that are
// behind, and the ranks stay apart, op after op.
const Op* Session::goesFirst() const {
  if (broken_ || ops_.size() < 2 || !setup_.options.has(Loop::kOrder)) {
    return nullptr;
  }
  for (const Op* const op : ops_.oldestFirst()) {
    for (int rank = 0; rank < setup_.size; rank++) {
      if (rank != setup_.rank && !peers_[rank].closed() &&
          peers_[rank].joined() && peers_[rank].send.available() &&
          op->outbox().hasData(rank)) {
        return op;
      }
    }
  }
  return nullptr;
}

bool Session::nextOut(TimePoint now, OutPacket* out) {
  const Op* const first = goesFirst();
  for (int i = 0; i <= setup_.size; i++) {
    if (turnOut(now, first, out)) {
      return true;
    }
    turns_.next();
  }
  return false;
}

bool Session::nextOfBurst(TimePoint now, OutPacket* out) {
  if (!turns_.begun()) {
    return false;
  }
  if (turnOut(now, nullptr, out)) {
    return true;
  }
  turns_.next();
  return false;
}

// A turn begins only with data of `first`, and goes on with data of any op.
bool Session::turnOut(TimePoint now, const Op* first, OutPacket* out) {
  const int rank = turns_.rank();
  return rank == setup_.rank
             ? !broken_ && multicastOut(now, out)
             : hasLeaveToSend(rank) && peerOut(now, rank, first, out);
}

// The data that goes to one peer in its turn. A slot's sum needs contributions
// of all ranks. With long trains to many peers, hardly any slot would be
// complete before all contributions have left, and the stages would not
// overlap.
size_t Session::trainBytes() const {
  size_t bytes = LinkRate::kTrainBytesMin;
  for (const auto& [id, op] : ops_) {
    const size_t owners = op->parts().ranks.members();
    bytes = std::max({bytes,
                      op->shape().bytes() / owners / kTrainsInShard,
                      kRoundBytes / owners});
  }
  return std::min(shared_->link.trainBytes(), bytes);
}

// Whether the burst to one peer, a train, has room for one more slot.
bool Session::mayBurst() const {
  return !turns_.begun() ||
         (!turns_.controlOnly() &&
          turns_.dataBytes() + setup_.slotBytesMax + PacketHeader::kBytes <=
              trainBytes());
}

bool Session::peerOut(TimePoint now,
                      int rank,
                      const Op* first,
                      OutPacket* out) {
  PeerLink& peer = peers_[rank];
  // A rank that has never been heard may not have joined yet. It gets no data,
  // only announcements, until it answers.
  const bool open = !broken_ && !peer.closed();
  if (open && peer.joined() && mayBurst()) {
    if (!peer.send.available()) {
      if (blocked_.at(rank) == kNever && hasData(rank)) {
        blocked_.set(rank, now + retryAfter(now, rank));
      }
    } else if ((turns_.begun() || first == nullptr ||
                first->outbox().hasData(rank)) &&
               dataOut(rank, out)) {
      turns_.sentData(out->headBytes + out->payloadBytes);
      return true;
    }
  }
  // Control that is not due yet leaves only behind data.
  const bool rides = turns_.begun();
  turns_.turnToControl();
  const auto credit = [&](WriteCursor* cursor) {
    if (!broken_ && !peers_[rank].closed()) {
      writeCredit(rank, cursor);
    }
  };
  const bool goes =
      rides ? peer.controlDue() != kNever : now >= peer.controlDue();
  // std::function allocates no memory for a reference.
  if (!goes || !peer.controlOut(now, std::cref(credit), out)) {
    return false;
  }
  shared_->counters.add(Counter::kSentControl);
  return true;
}

PacketHeader Session::headerOf(const Op& op, const DataSend& send) {
  PacketHeader header;
  header.stage = send.stage;
  header.form = send.form;
  header.lastPercentile = send.lastPercentile;
  header.repair = send.repair;
  header.hierarchical = op.shape().hierarchical();
  header.partial = send.partial;
  header.elementType = op.shape().type;
  header.op = op.id();
  header.slot = send.slot;
  header.elements = static_cast<uint32_t>(op.shape().elements);
  header.contributors = send.contributors;
  return header;
}

bool Session::dataOut(int rank, OutPacket* out) {
  for (Op* const op : ops_.oldestFirst()) {
    DataSend send;
    if (!op->outbox().hasData(rank) ||
        !op->outbox().next(rank, peers_[rank].wantsResults, &send)) {
      continue;
    }
    peers_[rank].dataOut(
        headerOf(*op, send), send.payload, send.payloadBytes, out);
    shared_->counters.add(Counter::kSentData);
    return true;
  }
  return false;
}

// Whether an op here needs something of the peer, even only its done message.
bool Session::awaits(int peer) const {
  return !departure_.hasLeft() && !peers_[peer].closed() &&
         ops_.any(
             [peer](const Op& op) { return op.entered() && !op.isDone(peer); });
}

void Session::watchSilence(TimePoint now) {
  for (int peer = 0; peer < setup_.size; peer++) {
    if (peer != setup_.rank && awaits(peer)) {
      silence_.start(peer, now);
    }
  }
}

void Session::lookForSilence(TimePoint now) {
  for (const int peer : silence_.due(now)) {
    if (!awaits(peer)) {
      silence_.stop(peer);
      continue;
    }
    const auto verdict = silence_.look(peer, now, peers_[peer].heardAt);
    if (verdict == SilenceWatch::Verdict::kAsk && silence_.becameLong(peer) &&
        setup_.silent != nullptr) {
      setup_.silent(peer);
    }
    switch (verdict) {
      case SilenceWatch::Verdict::kWait:
        break;
      case SilenceWatch::Verdict::kAsk:
        // It is always answered, with credit.
        control(
            now,
            peer,
            {ControlType::kBlocked, {}, {}, peers_[peer].send.next(), {}, 0, 0},
            true);
        break;
      case SilenceWatch::Verdict::kGone:
        closePeer(
            now,
            peer,
            "rank " + std::to_string(peer) + " has not answered for " +
                std::to_string(SilenceWatch::lasted(peers_[peer].heard()) /
                               std::chrono::seconds(1)) +
                " s: it has died, was stopped, or is cut off" + silence(peer));
        // Perhaps it is cut off in one direction only, and hears this.
        peers_[peer].lastWord(now, departure_.leaveRecord());
        break;
    }
  }
}

TimePoint Session::nextDeadline() const {
  if (broken_) {
    return ops_.empty() ? controlDues_.earliest() : TimePoint{};
  }
  TimePoint next = std::min({controlDues_.earliest(),
                             blocked_.earliest(),
                             departure_.dueAt(),
                             silence_.earliest(),
                             multicast_.nextDeadline(),
                             losses_.earliest(),
                             incast_ ? incast_->dueAt() : kNever});
  for (const auto& [id, op] : ops_) {
    next = std::min(next, op->nextDeadline());
    if (!op->entered() && !op->hasResults()) {
      next = std::min(next, expiryOf(*op));
    }
  }
  for (const auto& [id, call] : admission_) {
    next = !departure_.hasFailed() ? std::min(next, call.until) : next;
  }
  if (!admission_.empty()) {
    next = std::min(next, mayBeginAt());
  }
  return next;
}

void Session::passDeadlines(TimePoint now) {
  blocked_.forDue(now, [&](int rank) {
    const SendCredit& credit = peers_[rank].send;
    if (credit.available() || !hasData(rank)) {
      blocked_.set(rank, kNever);
      return;
    }
    control(now,
            rank,
            {ControlType::kBlocked, {}, {}, credit.next(), {}, 0, 0},
            true);
    blocked_.set(rank, now + kAskAgain * retryAfter(now, rank));
  });
  losses_.forDue(now, [&](int rank) { findLosses(now, rank); });
  if (incast_ && now >= incast_->dueAt()) {
    passTurns(now);
  }
  multicastDeadline(now);
  if (now >= departure_.dueAt()) {
    sayLeaveToAll(now);
  }
  lookForSilence(now);
  for (auto& [id, op] : ops_) {
    if (now >= op->nextDeadline()) {
      op->deadlinePassed(now);
    }
  }
  expireUnentered(now);
  admit(now);
  for (const auto& [id, call] : admission_) {
    if (now >= call.until) {
      giveUp(now, call);
    }
  }
}

}  // namespace ubt
