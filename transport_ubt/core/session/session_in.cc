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
  if (header.source >= setup_.size) {
    return Counter::kWrongRank;
  }
  if (header.multicast) {
    if (broken_) {
      return Counter::kLateData;
    }
    return multicastIn(now, &header, datagram, bytes, congested);
  }
  if (header.source == setup_.rank) {
    return Counter::kWrongRank;
  }
  PeerLink& peer = peers_[header.source];
  PeerLink::Payload payload;
  if (!peer.open(&header, datagram, bytes, &payload)) {
    return Counter::kBadTag;
  }
  if (broken_) {
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
  numberIn(now, header.source, header.number, bytes);
  const Counter fate =
      newDataIn(now, header, payload, bytes, congested, &peer.receive);
  considerCredit(now, header.source);
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
  // LossDetector counts the losses of other packets. Multicast has no trains.
  if (header.multicast && skipped > 0) {
    shared_->window.lost(skipped * bytes, skipped);
  }
  shared_->window.arrived(now, bytes, congested);
  if (congested) {
    shared_->counters.add(Counter::kCongested);
  }
  return dataIn(now, header, payload.data, payload.bytes);
}

Counter Session::dataIn(TimePoint now,
                        const PacketHeader& header,
                        const std::byte* payload,
                        size_t bytes) {
  Op* op = ops_.find(header.op);
  if (op == nullptr) {
    if (isOver(header.op)) {
      return Counter::kLateData;
    }
    if (header.stage == Stage::kBroadcast) {
      return Counter::kUnannounced;
    }
    const OpShape shape{header.elements,
                        header.elementType,
                        setup_.options.fingerprint() |
                            (header.hierarchical ? OpShape::kHierarchical : 0),
                        header.op.space};
    const OpParts parts = partsOf(shape);
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
    peers_[peer].clocksIn(now, header.number, clocks);
    sampleRound(now, peer);
    numbersUsed(now, peer, clocks.next);
    peers_[peer].peerWish = header.form;
  }
  answerLeave(now, peer);
  // Records after a leave are ignored.
  while (cursor.left() > 0 && !peers_[peer].closed()) {
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

// The peer still sends. If this rank has left, the peer has not heard it.
void Session::answerLeave(TimePoint now, int peer) {
  if (departure_.hasLeft() &&
      now - departure_.sentAt(peer) >= retryAfter(now, peer)) {
    sayLeave(now, peer);
  }
}

void Session::recordIn(TimePoint now, int peer, const ControlRecord& record) {
  Op* op = ops_.find(record.op);
  switch (record.type) {
    case ControlType::kAnnounce:
      if (op == nullptr && !isOver(record.op)) {
        Counter whyNot{};
        op = startFromPeer(
            now, record.op, record.shape, partsOf(record.shape), peer, &whyNot);
        if (op == nullptr) {
          shared_->counters.add(Counter::kRefusedAnnounce);
          return;
        }
      }
      if (op != nullptr) {
        op->announced(now, peer, record.shape);
        passTurns(now);
      } else {  // the op is over here: tell the late peer so
        control(now,
                peer,
                ControlRecord::about(ControlType::kAnnounceSeen, record.op),
                false);
        control(now,
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
      peers_[peer].send.raise(
          incastIn(peer, record.number & ~ControlRecord::kWantsResults));
      peers_[peer].wantsResults =
          (record.number & ControlRecord::kWantsResults) != 0;
      // An old limit leaves the question open.
      if (peers_[peer].send.available()) {
        blocked_.set(peer, kNever);
      }
      return;
    case ControlType::kBlocked:
      numbersUsed(now, peer, record.number);
      passTurns(now);
      peers_[peer].creditBy(now);
      return;
    case ControlType::kLost:
      lostIn(now, peer, record);
      return;
    case ControlType::kLostSlots:
      if (op != nullptr) {
        op->lostHere(now, peer, record.stage, record.slot, record.slots);
      }
      return;
    case ControlType::kRepair:
      if (record.slots == 0) {
        peers_[peer].creditBy(now);  // its clocks tell what has been sent
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
        control(now,
                peer,
                op == nullptr
                    ? ControlRecord::about(ControlType::kDone, record.op)
                    : op->doneRecord(ControlType::kDone),
                true);
      }
      forgetIfDone(now, record.op);
      return;
    case ControlType::kMulticastKey:
      multicast_.keyIn(peer, record.multicastKey);
      return;
    case ControlType::kHears:
      multicast_.heardBy(peer, record.number);
      return;
    case ControlType::kLeave:
      peerLeft(now, peer, record.slot);
      return;
  }
}

// What a control datagram of the peer tells about the way to it.
void Session::sampleRound(TimePoint now, int peer) {
  DeliveryWindow& window = shared_->window;
  if (setup_.options.has(Loop::kNoticeDelay)) {
    window.hostsDelay(shared_->noticeDelay.get() +
                      2 * shared_->link.backlogTime());
  }
  window.trains(trainBytes() *
                std::max(shared_->activeSenders, setup_.size - 1));
  if (const Duration took = peers_[peer].measuredRoundTrip();
      took > Duration{0}) {
    window.roundTrip(now, took);
  }
}

// A data number of the peer arrives for the first time.
void Session::numberIn(TimePoint now, int rank, uint64_t number, size_t bytes) {
  lossBytes_ = bytes;
  if (peers_[rank].losses.arrived(now, number)) {
    shared_->window.overtaken(bytes);
  }
  findLosses(now, rank);
}

// The peer has sent the data numbers below `next`.
void Session::numbersUsed(TimePoint now, int rank, uint64_t next) {
  PeerLink& peer = peers_[rank];
  if (next <= peer.receive.next()) {
    return;
  }
  peer.receive.blocked(next);
  peer.losses.used(now, std::min(next, peer.receive.limit()));
  findLosses(now, rank);
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

// Tells the peer which numbers have become lost.
void Session::findLosses(TimePoint now, int rank) {
  LossDetector& losses = peers_[rank].losses;
  if (!losses.hasGaps()) {
    losses_.set(rank, kNever);
    return;
  }
  const Duration after = lossAfter(now, rank);
  const auto lost = [&](uint64_t first, uint64_t count, uint64_t before) {
    const uint64_t train = trainBytes();
    const auto trainsOf = [&](uint64_t slots) {
      return (slots * lossBytes_ + train - 1) / train;
    };
    shared_->link.shortTrains(now);
    shared_->window.lost(count * lossBytes_,
                         trainsOf(before + count) - trainsOf(before));
    if (setup_.options.tellsLosses()) {
      ControlRecord record;
      record.type = ControlType::kLost;
      record.number = first;
      record.slots =
          static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX));
      control(now, rank, record, true);
    }
  };
  losses.collect(now, after, lost);
  losses_.set(rank, losses.nextDeadline(after));
}

// The peer misses data numbers. Ops repeat the slots, or say that they do not.
void Session::lostIn(TimePoint now, int peer, const ControlRecord& record) {
  shared_->link.shortTrains(now);
  peers_[peer].sent.find(
      record.number, record.slots, [&](const SentHistory::Run& run) {
        if (Op* const op = ops_.find(run.op); op != nullptr) {
          op->lostByPeer(now, peer, run.stage, run.slot, run.slots);
        }
      });
}

CreditGrants::Load Session::loadOf(int rank) const {
  const uint64_t bytes = shared_->window.bytes();
  CreditGrants::Load load;
  load.windowBytes = bytes - multicast_.windowBytes(bytes);
  load.senders = shared_->activeSenders;
  if (!setup_.options.has(Loop::kShares)) {
    return load;
  }
  for (const auto& [id, op] : ops_) {
    load.owed += op->slotsAwaited(rank);
    load.owedByAll += op->slotsAwaited();
    // The first op that a caller waits for comes first.
    if (op->entered() && load.owedByAll > 0) {
      break;
    }
  }
  return load;
}

// The slots of credit that all other peers hold.
uint64_t Session::heldBeside(int rank) const {
  uint64_t held = 0;
  for (int other = 0; other < setup_.size; other++) {
    if (other != rank && other != setup_.rank) {
      held += peers_[other].receive.left();
    }
  }
  return held;
}

void Session::considerCredit(TimePoint now, int rank) {
  passTurns(now);
  if (incast_ && !incast_->admits(rank)) {
    return;  // the rank gets a slot when it asks
  }
  PeerLink& peer = peers_[rank];
  if (peer.creditDue() && peer.controlDue() <= now) {
    return;
  }
  const TimePoint due =
      CreditGrants::dueAt(now,
                          shareOf(rank, loadOf(rank)),
                          peer.receive.left(),
                          kNever,
                          setup_.options.has(Loop::kEarlyCredit));
  if (due != kNever) {
    peer.creditBy(due);
  }
}

void Session::writeCredit(int rank, WriteCursor* out) {
  PeerLink& peer = peers_[rank];
  CreditGrants::Load load = loadOf(rank);
  load.held = heldBeside(rank);
  peer.receive.grant(shareOf(rank, load));
  ControlRecord record;
  record.type = ControlType::kCredit;
  record.number = peer.receive.limit() | incastOut();
  if (ops_.any([](const Op& op) { return op.wantsResults(); })) {
    record.number |= ControlRecord::kWantsResults;
  }
  record.encode(out);
  writeHears(rank, out);
  for (const auto& [id, op] : ops_) {
    if (peer.creditDue() && out->left() >= ControlRecord::kBytesMax &&
        op->entered() && op->progressRecord(rank, &record)) {
      record.encode(out);
    }
  }
}

}  // namespace ubt
