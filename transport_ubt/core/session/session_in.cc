// SPDX-License-Identifier: Apache-2.0
//
// How a session handles datagrams that arrive.

#include <algorithm>

#include "transport_ubt/core/session/session.h"

namespace ubt {

Counter Session::takeIn(TimePoint now,
                        PacketHeader header,
                        const std::byte* datagram,
                        size_t bytes,
                        bool congested) {
  if (header.source >= state_.setup.size) {
    return Counter::kWrongRank;
  }
  if (header.multicast) {
    if (state_.broken) {
      return Counter::kLateData;
    }
    return multicastIn(now, &header, datagram, bytes, congested);
  }
  if (header.source == state_.setup.rank) {
    return Counter::kWrongRank;
  }
  PeerLink& peer = state_.peers[header.source];
  PeerLink::Payload payload;
  if (!peer.open(&header, datagram, bytes, &payload)) {
    return Counter::kBadTag;
  }
  if (state_.broken) {
    if (peer.isFirst(header)) {
      answerLeave(now, header.source);
    }
    return header.type == PacketType::kControl ? Counter::kClosedPeer
                                               : Counter::kLateData;
  }
  if (header.halted && !peer.halted) {
    halt(now,
         "rank " + std::to_string(header.source) +
             " has halted the job, or reports that another rank did: the error "
             "of the first one names its loss");
  }
  const bool control = header.type == PacketType::kControl;
  if (peer.closed()) {
    return control ? Counter::kClosedPeer : Counter::kLateData;
  }
  if (control) {
    if (!peer.isFirst(header)) {
      return Counter::kReplayed;  // anybody can replay: not a sign of life
    }
    peer.heardAt = now;
    return controlIn(now, header, payload);
  }
  if (header.number >= peer.receive.limit()) {
    return Counter::kMismatched;  // no honest sender exceeds its credit
  }
  if (!peer.isFirst(header)) {
    return Counter::kDuplicateData;
  }
  peer.heardAt = now;
  losses_.arrived(now, header.source, header.number, bytes);
  const Counter fate =
      newDataIn(now, header, payload, bytes, congested, &peer.receive);
  credit_.consider(now, header.source);
  return fate;
}

// A datagram of data, `bytes` long, that arrives for the first time.
Counter Session::newDataIn(TimePoint now,
                           const PacketHeader& header,
                           const PeerLink::Payload& payload,
                           size_t bytes,
                           bool congested,
                           ReceiveCredit* credit) {
  const uint64_t skipped = credit->arrived(header.number);
  if (header.multicast) {  // LossDetector finds the losses of other packets
    losses_.multicastArrived(skipped, bytes);
  }
  state_.shared->window.arrived(now, bytes, congested);
  if (congested) {
    state_.shared->counters.add(Counter::kCongested);
  }
  return dataIn(now, header, payload.data, payload.bytes);
}

Counter Session::dataIn(TimePoint now,
                        const PacketHeader& header,
                        const std::byte* payload,
                        size_t bytes) {
  Op* op = state_.ops.find(header.op);
  if (op == nullptr) {
    if (isOver(header.op)) {
      return Counter::kLateData;
    }
    if (header.stage == Stage::kBroadcast) {
      return Counter::kUnannounced;
    }
    const OpShape shape{header.elements,
                        header.elementType,
                        state_.setup.options.fingerprint() |
                            (header.hierarchical ? OpShape::kHierarchical : 0),
                        header.op.space};
    const OpParts parts = state_.partsOf(shape);
    if (!parts.ranks.isMember(header.source) ||
        header.slot >= parts.layout.slots(parts.own()) ||
        bytes != parts.layout.slotSize(parts.own(), header.slot)) {
      return Counter::kMismatched;  // the data does not fit its own shape
    }
    Counter whyNot{};
    op = startFromPeer(now, header.op, shape, parts, header.source, &whyNot);
    if (op == nullptr) {
      return whyNot;
    }
  }
  return op->data(now, header, payload, bytes);
}

// Records before a malformed one still count.
Counter Session::controlIn(TimePoint now,
                           const PacketHeader& header,
                           const PeerLink::Payload& payload) {
  const int peer = header.source;
  ReadCursor cursor(payload.data, payload.bytes);
  ControlClocks clocks;
  if (!ControlClocks::decode(&cursor, &clocks)) {
    return Counter::kMalformed;
  }
  if (!payload.foreign) {
    state_.peers[peer].clocksIn(now, header.number, clocks);
    sampleRound(now, peer);
    losses_.used(now, peer, clocks.next);
    state_.peers[peer].peerWish = header.form;
  }
  answerLeave(now, peer);
  // Records after a leave are ignored.
  while (cursor.left() > 0 && !state_.peers[peer].closed()) {
    ControlRecord record;
    if (!ControlRecord::decode(&cursor, &record)) {
      return Counter::kMalformed;
    }
    if (!payload.foreign || record.type == ControlType::kAnnounce) {
      recordIn(now, peer, record);
    }
  }
  return Counter::kAcceptedControl;
}

void Session::recordIn(TimePoint now, int peer, const ControlRecord& record) {
  Op* op = state_.ops.find(record.op);
  switch (record.type) {
    case ControlType::kAnnounce:
      if (op == nullptr && !isOver(record.op)) {
        Counter whyNot{};
        op = startFromPeer(now,
                           record.op,
                           record.shape,
                           state_.partsOf(record.shape),
                           peer,
                           &whyNot);
        if (op == nullptr) {
          state_.shared->counters.add(Counter::kRefusedAnnounce);
          return;
        }
      }
      if (op != nullptr) {
        op->announced(now, peer, record.shape);
        credit_.passTurns(now);
      } else {  // the op is over here: tell the late peer so
        state_.control(
            now,
            peer,
            ControlRecord::about(ControlType::kAnnounceSeen, record.op),
            false);
        state_.control(now,
                       peer,
                       ControlRecord::about(ControlType::kClosed, record.op),
                       false);
      }
      return;
    case ControlType::kAnnounceSeen:
      if (op != nullptr) {
        op->announceSeen(peer);
      }
      return;
    case ControlType::kCredit:
      state_.peers[peer].send.raise(
          credit_.limitIn(peer, record.number & ~ControlRecord::kWantsResults));
      state_.peers[peer].wantsResults =
          (record.number & ControlRecord::kWantsResults) != 0;
      questions_.creditIn(peer);
      return;
    case ControlType::kBlocked:
      losses_.used(now, peer, record.number);
      credit_.passTurns(now);
      state_.peers[peer].creditBy(now);
      return;
    case ControlType::kLost:
      losses_.reportIn(now, peer, record);
      return;
    case ControlType::kLostSlots:
      if (op != nullptr) {
        op->lostHere(now, peer, record.stage, record.slot, record.slots);
      }
      return;
    case ControlType::kRepair:
      if (record.slots == 0) {
        state_.peers[peer].creditBy(now);  // its clocks name the next number
      }
      if (op != nullptr &&
          !op->repairAsked(
              now, peer, record.stage, record.slot, record.slots)) {
        resultsUnavailable(now, peer);
      }
      return;
    case ControlType::kProgress:
      if (op != nullptr) {
        op->progress(now, peer, record.slot);
      }
      return;
    case ControlType::kClosed:
      if (op != nullptr) {
        op->shardClosed(now, peer, record.slots);
      }
      return;
    case ControlType::kHalf:
      if (op != nullptr) {
        op->halfEnded(now, peer, record.stage);
      }
      return;
    case ControlType::kNoMore:
      if (op != nullptr) {
        op->noMore(now, peer, record.stage);
      }
      return;
    case ControlType::kOver:
      if (op != nullptr) {
        op->over(now, peer);
      }
      return;
    case ControlType::kDone:
      doneIn(now, peer, record, op);
      forgetIfDone(now, record.op);
      return;
    case ControlType::kDoneQuery:
      doneIn(now, peer, record, op);  // a rank that asks is done, too
      if (isOver(record.op) || (op != nullptr && op->returned())) {
        state_.control(now,
                       peer,
                       op == nullptr
                           ? ControlRecord::about(ControlType::kDone, record.op)
                           : op->doneRecord(ControlType::kDone),
                       true);
      }
      forgetIfDone(now, record.op);
      return;
    case ControlType::kMulticastKey:
      state_.multicast.keyIn(peer, record.multicastKey);
      return;
    case ControlType::kHears:
      state_.multicast.heardBy(peer, record.number);
      return;
    case ControlType::kLeave:
      peerLeft(now, peer, record.slot);
      return;
  }
}

// The peer's call has returned. Ranks may differ although the call has returned
// here, too: then the next calls fail. `op`: null if it is over here.
void Session::doneIn(TimePoint now,
                     int peer,
                     const ControlRecord& record,
                     Op* op) {
  if (op == nullptr) {
    return;
  }
  op->done(now, peer, record.slots, record.number);
  const OpFailure::Blame why = op->whyDifferent();
  if (!why.text.empty()) {
    failBecauseOf(now, why.rank, why.text);
  }
}

// What a control datagram of the peer tells about the way to it.
void Session::sampleRound(TimePoint now, int peer) {
  DeliveryWindow& window = state_.shared->window;
  if (state_.setup.options.has(Loop::kNoticeDelay)) {
    window.hostsDelay(state_.shared->noticeDelay.get() +
                      2 * state_.shared->link.backlogTime());
  }
  window.trains(state_.trainBytes(now) *
                std::max(state_.shared->activeSenders, state_.setup.size - 1));
  if (const Duration took = state_.peers[peer].measuredRoundTrip();
      took > Duration{0}) {
    window.roundTrip(now, took);
  }
}

Counter Session::multicastIn(TimePoint now,
                             PacketHeader* header,
                             const std::byte* datagram,
                             size_t bytes,
                             bool congested) {
  const int owner = header->source;
  if (owner == state_.setup.rank) {
    return Counter::kOwnEcho;
  }
  PeerLink* const link = state_.multicast.from(owner);
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
    state_.peers[owner].heardAt = now;
    return probeIn(now, *header, payload);
  }
  if (header->stage != Stage::kBroadcast) {  // contributions go to one rank
    return Counter::kMismatched;
  }
  if (header->number >= link->receive.limit()) {
    // The owner believes that this rank hears no multicast. Tell it.
    losses_.multicastSkipped(link->receive.arrived(header->number));
    credit_.answerMulticast(now, owner);
    return Counter::kUngranted;
  }
  if (!link->isFirst(*header)) {
    return Counter::kDuplicateData;
  }
  state_.peers[owner].heardAt = now;
  const Counter fate =
      newDataIn(now, *header, payload, bytes, congested, &link->receive);
  credit_.answerMulticast(now, owner);
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
    losses_.multicastSkipped(
        state_.multicast.from(owner)->receive.used(record.number));
    state_.multicast.answer(owner);
    state_.peers[owner].creditBy(now);
  }
  return Counter::kAcceptedControl;
}

}  // namespace ubt
