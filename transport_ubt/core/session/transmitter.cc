// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/session/transmitter.h"

#include <algorithm>
#include <functional>

namespace ubt {
namespace {

PacketHeader headerOf(const Op& op, const DataSend& send) {
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

}  // namespace

// Whether data may leave for the rank now. False for the own rank.
bool Transmitter::takesData(int rank) const {
  const PeerLink& peer = session_->peers[rank];
  return rank != session_->setup.rank && !peer.closed() && peer.joined() &&
         peer.send.available();
}

// The oldest op with data that has credit. Null: any op may go first. An older
// op's data to any rank leaves before a newer op's data to other ranks.
// Otherwise a rank that is ahead delays the results of the ranks that are
// behind, and the ranks stay apart, op after op.
const Op* Transmitter::goesFirst() const {
  if (session_->broken || session_->ops.size() < 2 ||
      !session_->setup.options.has(Loop::kOrder)) {
    return nullptr;
  }
  for (const Op* const op : session_->ops.oldestFirst()) {
    for (int rank = 0; rank < session_->setup.size; rank++) {
      if (takesData(rank) && op->outbox().hasData(rank)) {
        return op;
      }
    }
  }
  return nullptr;
}

bool Transmitter::next(TimePoint now, OutPacket* out) {
  const Op* const first = goesFirst();
  for (int i = 0; i <= session_->setup.size; i++) {
    if (turnOut(now, first, out)) {
      return true;
    }
    turns_.next();
  }
  return false;
}

bool Transmitter::nextOfBurst(TimePoint now, OutPacket* out) {
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
bool Transmitter::turnOut(TimePoint now, const Op* first, OutPacket* out) {
  const int rank = turns_.rank();
  if (rank == session_->setup.rank) {
    return !session_->broken && multicastOut(now, out);
  }
  // A closed peer may still have to hear that this rank leaves.
  const PeerLink& peer = session_->peers[rank];
  return (!peer.closed() || peer.controlDue() != kNever) &&
         peerOut(now, rank, first, out);
}

// Whether the burst to one peer, a train, has room for one more slot.
bool Transmitter::mayBurst(TimePoint now) const {
  return !turns_.begun() || (!turns_.controlOnly() &&
                             turns_.dataBytes() + session_->setup.slotBytesMax +
                                     PacketHeader::kBytes <=
                                 session_->trainBytes(now));
}

bool Transmitter::peerOut(TimePoint now,
                          int rank,
                          const Op* first,
                          OutPacket* out) {
  const PeerLink& peer = session_->peers[rank];
  // A rank that has never been heard may not have joined yet. It gets no data,
  // only announcements, until it answers.
  const bool open = !session_->broken && !peer.closed();
  if (open && peer.joined() && mayBurst(now)) {
    if (!peer.send.available()) {
      questions_->blocked(now, rank);
    } else if ((turns_.begun() || first == nullptr ||
                first->outbox().hasData(rank)) &&
               dataOut(rank, out)) {
      turns_.sentData(out->headBytes + out->payloadBytes);
      return true;
    }
  }
  return controlOut(now, rank, out);
}

bool Transmitter::dataOut(int rank, OutPacket* out) {
  PeerLink& peer = session_->peers[rank];
  for (Op* const op : session_->ops.oldestFirst()) {
    DataSend send;
    if (!op->outbox().hasData(rank) ||
        !op->outbox().next(rank, peer.wantsResults, &send)) {
      continue;
    }
    peer.dataOut(headerOf(*op, send), send.payload, send.payloadBytes, out);
    session_->shared->counters.add(Counter::kSentData);
    return true;
  }
  return false;
}

// Control that is not due yet leaves only behind data.
bool Transmitter::controlOut(TimePoint now, int rank, OutPacket* out) {
  PeerLink& peer = session_->peers[rank];
  const bool rides = turns_.begun();
  turns_.turnToControl();
  const auto credit = [&](WriteCursor* cursor) {
    if (!session_->broken && !peer.closed()) {
      credit_->write(rank, cursor);
    }
  };
  const bool goes =
      rides ? peer.controlDue() != kNever : now >= peer.controlDue();
  // std::function allocates no memory for a reference.
  if (!goes || !peer.controlOut(now, std::cref(credit), out)) {
    return false;
  }
  session_->shared->counters.add(Counter::kSentControl);
  return true;
}

// Multicast ------------------------------------------------------------------

// Whether the op's results may leave by multicast now. Contributions go first,
// as to single ranks (Outbox::next), unless their receiver takes none at the
// moment.
bool Transmitter::multicasts(const Op& op) const {
  if (!op.outbox().hasMulticast()) {
    return false;
  }
  for (int rank = 0; rank < session_->setup.size; rank++) {
    if (takesData(rank) && op.outbox().hasContribution(rank)) {
      return false;
    }
  }
  return true;
}

bool Transmitter::multicastOut(TimePoint now, OutPacket* out) {
  Multicast& multicast = session_->multicast;
  if (!multicast.on()) {
    return false;
  }
  if (mayBurst(now) &&
      session_->ops.any([this](const Op& op) { return multicasts(op); })) {
    if (!multicast.available()) {
      multicastBlocked(now);
    } else if (multicastDataOut(now, out)) {
      turns_.sentData(out->headBytes + out->payloadBytes);
      return true;
    }
  }
  turns_.dataIsOver();
  if (!multicast.probeOut(now, out)) {
    return false;
  }
  session_->shared->counters.add(Counter::kSentControl);
  return true;
}

void Transmitter::multicastBlocked(TimePoint now) {
  Duration after{0};
  for (int rank = 0; rank < session_->setup.size; rank++) {
    after = std::max(after,
                     session_->multicast.hears(rank)
                         ? session_->retryAfter(now, rank)
                         : Duration{0});
  }
  session_->multicast.blocked(now, after);
}

bool Transmitter::multicastDataOut(TimePoint now, OutPacket* out) {
  for (Op* const op : session_->ops.oldestFirst()) {
    DataSend send;
    if (multicasts(*op) && op->outbox().nextMulticast(&send)) {
      session_->multicast.dataOut(
          now, headerOf(*op, send), send.payload, send.payloadBytes, out);
      session_->shared->counters.add(Counter::kSentData);
      session_->shared->counters.add(Counter::kSentMulticast);
      return true;
    }
  }
  return false;
}

}  // namespace ubt
