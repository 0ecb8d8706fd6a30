// SPDX-License-Identifier: Apache-2.0
//
// A session's multicast, in both directions.

#include <algorithm>

#include "transport_ubt/core/session/session.h"

namespace ubt {

Counter Session::multicastIn(TimePoint now,
                             PacketHeader* header,
                             const std::byte* datagram,
                             size_t bytes,
                             bool congested) {
  const int owner = header->source;
  if (owner == setup_.rank) {
    return Counter::kOwnEcho;
  }
  PeerLink* const link = multicast_.from(owner);
  if (link == nullptr) {
    return Counter::kNoMulticastKey;
  }
  PeerLink::Payload payload;
  if (!link->open(header, datagram, bytes, &payload)) {
    return Counter::kBadTag;
  }
  if (header->type == PacketType::kControl) {
    if (!link->isFirst(*header)) {
      return Counter::kReplayed;
    }
    peers_[owner].heardAt = now;
    return probeIn(now, *header, payload);
  }
  if (header->stage != Stage::kBroadcast) {  // contributions go to one rank
    return Counter::kMismatched;
  }
  if (header->number >= link->receive.limit()) {
    // The owner believes that this rank hears no multicast. Tell it.
    link->receive.arrived(header->number);
    answerMulticast(now, owner);
    return Counter::kUngranted;
  }
  if (!link->isFirst(*header)) {
    return Counter::kDuplicateData;
  }
  peers_[owner].heardAt = now;
  const Counter fate =
      newDataIn(now, *header, payload, bytes, congested, &link->receive);
  answerMulticast(now, owner);
  return fate;
}

// A probe tells which packet numbers its owner has used.
Counter Session::probeIn(TimePoint now,
                         const PacketHeader& header,
                         const PeerLink::Payload& payload) {
  const int owner = header.source;
  ReadCursor cursor(payload.data, payload.bytes);
  ControlClocks clocks;
  ControlRecord record;
  if (!ControlClocks::decode(&cursor, &clocks) ||
      !ControlRecord::decode(&cursor, &record) ||
      record.type != ControlType::kBlocked) {
    return Counter::kMalformed;
  }
  if (!payload.foreign) {
    if (record.number > 0) {
      multicast_.from(owner)->receive.arrived(record.number - 1);
    }
    multicast_.answer(owner);
    peers_[owner].creditBy(now);
  }
  return Counter::kAcceptedControl;
}

uint64_t Session::multicastShareSlots() const {
  return grants_.multicastShare(
      multicast_.windowBytes(shared_->window.bytes()));
}

// Tells an owner that it is heard, and its credit, within a limit.
void Session::answerMulticast(TimePoint now, int owner) {
  multicast_.answer(owner);
  peers_[owner].creditBy(
      CreditGrants::dueAt(now,
                          multicastShareSlots(),
                          multicast_.from(owner)->receive.left(),
                          now + Multicast::kAnswerWithin));
}

void Session::writeHears(int owner, WriteCursor* out) {
  ControlRecord record;
  if (out->left() >= ControlRecord::kBytesMax &&
      multicast_.answerOut(owner, multicastShareSlots(), &record)) {
    record.encode(out);
  }
}

// Whether the op's results may leave by multicast now. Contributions go first,
// as to single ranks (Outbox::next), unless their receiver takes none at the
// moment.
bool Session::multicastsTurn(const Op& op) const {
  if (!op.outbox().hasMulticast()) {
    return false;
  }
  for (int rank = 0; rank < setup_.size; rank++) {
    const PeerLink& peer = peers_[rank];
    if (rank != setup_.rank && !peer.closed() && peer.joined() &&
        peer.send.available() && op.outbox().hasContribution(rank)) {
      return false;
    }
  }
  return true;
}

bool Session::hasMulticastData() const {
  return ops_.any([this](const Op& op) { return multicastsTurn(op); });
}

// The turn of multicast.
bool Session::multicastOut(TimePoint now, OutPacket* out) {
  if (!multicast_.on()) {
    return false;
  }
  if (mayBurst() && hasMulticastData()) {
    if (!multicast_.available()) {
      Duration after{0};
      for (int rank = 0; rank < setup_.size; rank++) {
        after = std::max(
            after,
            multicast_.hears(rank) ? retryAfter(now, rank) : Duration{0});
      }
      multicast_.blocked(now, after);
    } else if (multicastDataOut(now, out)) {
      turns_.sentData(out->headBytes + out->payloadBytes);
      return true;
    }
  }
  turns_.dataIsOver();
  if (!multicast_.probeOut(now, out)) {
    return false;
  }
  shared_->counters.add(Counter::kSentControl);
  return true;
}

bool Session::multicastDataOut(TimePoint now, OutPacket* out) {
  for (auto& [id, op] : ops_) {
    DataSend send;
    if (multicastsTurn(*op) && op->outbox().nextMulticast(&send)) {
      multicast_.dataOut(
          now, headerOf(*op, send), send.payload, send.payloadBytes, out);
      shared_->counters.add(Counter::kSentData);
      shared_->counters.add(Counter::kSentMulticast);
      return true;
    }
  }
  return false;
}

void Session::multicastDeadline(TimePoint now) {
  if (now < multicast_.nextDeadline()) {
    return;
  }
  const Multicast::Passed passed = multicast_.deadlinePassed(now, active_);
  for (const int rank : passed.deaf) {
    for (auto& [id, op] : ops_) {
      op->outbox().leaveMulticast(rank);
    }
  }
  for (const int rank : passed.sought) {
    ControlRecord key;
    key.type = ControlType::kMulticastKey;
    key.multicastKey = masked(setup_.multicastSeed, setup_.keys[rank].sendMask);
    control(now, rank, key, true);
  }
}

}  // namespace ubt
