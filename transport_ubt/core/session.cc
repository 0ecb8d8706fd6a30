// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/session.h"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace ubt {
namespace {

// Records that can wait do so this long for others to share a datagram with.
constexpr Duration kControlPatience = std::chrono::milliseconds(1);
// Pauses between requests follow the round-trip time within these.
constexpr Duration kRetryMin = std::chrono::milliseconds(2);
constexpr Duration kRetryMax = std::chrono::milliseconds(50);
constexpr Duration kRetryUnknown = std::chrono::milliseconds(10);
// Datagrams to one peer in a row: what the kernel sends in one go.
constexpr int kSendBurst = 16;
// Ops that peers may have begun and the local caller not.
constexpr size_t kUnenteredOpsMax = 256;
// Records queued for one peer; repeated requests beyond that are dropped.
constexpr size_t kControlQueueMax = 512;
// A bound under this many timer latenesses would measure the scheduler.
constexpr int kLatenessFactor = 10;

uint32_t microseconds(TimePoint at) {
  return static_cast<uint32_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(
          at.time_since_epoch())
          .count());
}

// What a peer's window lets one of its senders have in flight at first.
uint64_t initialCredit(uint64_t windowBytes, int senders, size_t slotBytes) {
  return std::max<uint64_t>(1, windowBytes / (senders * slotBytes));
}

uint32_t sizeClass(size_t bytes) {
  uint32_t log = 0;
  while (bytes >>= 1) {
    log++;
  }
  return log;
}

}  // namespace

Session::Session(const Setup& setup, SharedState* shared)
    : setup_(setup), shared_(shared) {
  peers_.reserve(setup.size);
  for (int peer = 0; peer < setup.size; peer++) {
    const auto credit = [&](int receiver) {
      return initialCredit(
          setup.windowBytes[receiver], setup.size - 1, setup.slotBytesMax);
    };
    peers_.emplace_back(credit(peer), credit(setup.rank));
  }
}

Session::~Session() {
  if (active_) {
    shared_->activeSenders -= setup_.size - 1;
  }
}

// Callers --------------------------------------------------------------------

int Session::lagging() const {
  for (const auto& [id, op] : ops_) {
    if (op->returned() && !op->doneEverywhere()) {
      return op->firstNotDone();
    }
  }
  return -1;
}

std::string Session::giveUp() {
  const int rank = lagging();
  culprit_ = culprit_ < 0 ? rank : culprit_;
  return "rank " + std::to_string(rank) +
         " has not finished an allreduce that ended here " +
         std::to_string(setup_.options.leadOps) +
         " ops ago, and did not within the timeout; is it stuck or stopped?" +
         silence(rank);
}

OpId Session::enter(
    TimePoint now,
    uint32_t tag,
    const OpShape& shape,
    std::byte* bucket,
    Duration timeout) {
  lastNow_ = now;
  const OpId id{tag, tags_.use(tag)};
  Op* op = find(id);
  if (op == nullptr) {
    op = findOrStart(now, id, shape, setup_.rank);
  } else if (op->shape() != shape) {
    // What this rank brings goes out, so that the others learn of it too.
    for (int peer = 0; peer < setup_.size; peer++) {
      if (peer != setup_.rank) {
        control(peer, {ControlType::kAnnounce, id, shape, 0, {}, 0, 0}, true);
      }
    }
    op->disagree(setup_.rank, shape);
  }
  OpBounds bounds = boundsFor(now, shape);
  if (bounds.warmup && timeout > Duration{0}) {
    bounds.end = timeout;
  }
  op->enter(now, bucket, bounds);
  updateActivity();
  return id;
}

bool Session::finished(const OpId& id) const {
  return find(id)->finished();
}

const std::string& Session::failure(const OpId& id) const {
  return find(id)->failure();
}

OpReport Session::leave(TimePoint now, const OpId& id) {
  lastNow_ = now;
  Op* const op = find(id);
  OpReport report = op->leave(now);
  if (!op->failure().empty()) {
    culprit_ = culprit_ < 0 ? op->culprit() : culprit_;
    ops_.erase(id);
  } else {
    SizeClass& sizes = classes_[sizeClass(op->shape().bytes())];
    sizes.ops++;
    if (op->scatterTook() > Duration{0}) {
      sizes.scatter.complete(op->scatterTook(), op->warmup());
    }
    if (op->broadcastTook() > Duration{0}) {
      sizes.broadcast.complete(op->broadcastTook(), op->warmup());
    }
    unacknowledged_++;
    forgetIfDone(id);
  }
  updateActivity();
  return report;
}

void Session::peerClosed(int peer, const std::string& why) {
  if (peers_[peer].gone) {
    return;
  }
  peers_[peer].gone = true;
  peers_[peer].control.clear();
  peers_[peer].controlDue = kNever;
  if (failure_.empty()) {
    failure_ = why;
    culprit_ = culprit_ < 0 ? peer : culprit_;
  }
  std::vector<OpId> ids;
  for (auto& [id, op] : ops_) {
    if (failure_ == why && !op->failure().empty()) {
      failure_ = op->failure();  // what made the peer go, most likely
    }
    op->peerGone(peer, failure_);
    ids.push_back(id);
  }
  for (const OpId& id : ids) {
    forgetIfDone(id);
  }
}

void Session::peerLeft(int peer, uint32_t because) {
  const std::string who = "rank " + std::to_string(peer);
  if (because >= static_cast<uint32_t>(setup_.size)) {
    peerClosed(peer, who + " has destroyed its context");
    return;
  }
  if (culprit_ < 0) {
    culprit_ = static_cast<int>(because);
  }
  peerClosed(
      peer,
      who + " has given up because of rank " + std::to_string(because) +
          (static_cast<int>(because) == setup_.rank ? " (this one)" : "") +
          ", which died, hangs, is cut off or disagrees with it");
}

bool Session::lingering() const { return unacknowledged_ > 0; }

void Session::sendLeave() {
  for (int peer = 0; peer < setup_.size; peer++) {
    if (peer != setup_.rank) {
      ControlRecord leave;
      leave.type = ControlType::kLeave;
      leave.slot = culprit_ < 0 ? ControlRecord::kNobody
                                : static_cast<uint32_t>(culprit_);
      control(peer, leave, true);
    }
  }
}

// Ops ------------------------------------------------------------------------

Op* Session::find(const OpId& id) {
  const auto found = ops_.find(id);
  return found == ops_.end() ? nullptr : found->second.get();
}

const Op* Session::find(const OpId& id) const {
  return const_cast<Session*>(this)->find(id);
}

bool Session::isOver(const OpId& id) const {
  return id.count < tags_.used(id.tag) && ops_.count(id) == 0;
}

Op* Session::findOrStart(
    TimePoint now, const OpId& id, const OpShape& shape, int announcer) {
  auto& op = ops_[id];
  if (!op) {
    Op::Setup setup;
    setup.id = id;
    setup.shape = shape;
    setup.announcer = announcer;
    setup.rank = setup_.rank;
    setup.size = setup_.size;
    setup.slotBytesMax = setup_.slotBytesMax;
    setup.options = &setup_.options;
    setup.reduction = &shared_->reduction;
    setup.arena = &shared_->arena;
    setup.host = this;
    op = std::make_unique<Op>(setup, boundsFor(now, shape), now);
    for (int peer = 0; peer < setup_.size; peer++) {
      if (peers_[peer].gone) {
        op->peerGone(peer, failure_);
      }
    }
  }
  return op.get();
}

void Session::forgetIfDone(const OpId& id) {
  const Op* const op = find(id);
  if (op != nullptr && op->returned() && op->doneEverywhere()) {
    unacknowledged_--;
    ops_.erase(id);
  }
}

OpBounds Session::boundsFor(TimePoint now, const OpShape& shape) {
  const Options& options = setup_.options;
  const SizeClass& sizes = classes_[sizeClass(shape.bytes())];
  const bool byHand = options.boundScatter > Duration{0};
  OpBounds bounds;
  bounds.scatter = byHand ? options.boundScatter
                          : sizes.scatter.bound(options.boundMode);
  bounds.broadcast = byHand ? options.boundBroadcast
                            : sizes.broadcast.bound(options.boundMode);
  bounds.warmup = sizes.ops < options.warmupOps ||
                  bounds.scatter + bounds.broadcast == Duration{0};
  if (bounds.warmup) {
    bounds.scatter = bounds.broadcast = bounds.end = options.timeout;
    return bounds;
  }
  if (!byHand) {
    const Duration floor = kLatenessFactor * shared_->lateness.worst(now);
    bounds.scatter = std::max(bounds.scatter, floor);
    bounds.broadcast = std::max(bounds.broadcast, floor);
  }
  const Duration both = bounds.scatter + bounds.broadcast;
  bounds.end = options.repair == RepairPolicy::kNone
                   ? both
                   : both * options.hardBoundFactor;
  if (options.repair == RepairPolicy::kBoth) {
    // Contributions are asked for as well, for half of the hard bound; the
    // other half is for the results.
    bounds.scatter = bounds.end / 2;
  }
  return bounds;
}

// Data flows into this session while any op is open here.
void Session::updateActivity() {
  const bool active = std::any_of(ops_.begin(), ops_.end(), [](auto& entry) {
    return !entry.second->returned();
  });
  if (active != active_) {
    active_ = active;
    shared_->activeSenders += active ? setup_.size - 1 : 1 - setup_.size;
  }
}

// In -------------------------------------------------------------------------

void Session::packetIn(
    TimePoint now,
    const PacketHeader& header,
    const std::byte* datagram,
    size_t bytes) {
  lastNow_ = now;
  Counters& counters = shared_->counters;
  if (header.source >= setup_.size || header.source == setup_.rank ||
      header.destination != setup_.rank) {
    counters.add(Counter::kWrongRank);
    return;
  }
  const std::byte* const payload = datagram + PacketHeader::kBytes;
  const size_t payloadBytes = bytes - PacketHeader::kBytes;
  const bool control = header.type == PacketType::kControl;
  const bool whole = control || setup_.options.auth == AuthMode::kFull;
  if (packetTag(
          setup_.keys[header.source].receive,
          datagram,
          payload,
          whole ? payloadBytes : 0) != header.tag) {
    counters.add(Counter::kBadTag);
    return;
  }
  Peer& peer = peers_[header.source];
  if (peer.gone) {
    counters.add(control ? Counter::kReplayed : Counter::kLateData);
    return;
  }
  if (control) {
    if (!peer.controlSeen.accept(
            header.number & ~PacketHeader::kControlNumber)) {
      counters.add(Counter::kReplayed);
      return;
    }
    counters.add(Counter::kAcceptedControl);
    controlIn(now, header.source, payload, payloadBytes);
    return;
  }
  if (header.number >= peer.receive.limit() ||
      !peer.dataSeen.accept(header.number)) {
    // A number that was never granted is no honest sender's.
    counters.add(
        header.number >= peer.receive.limit() ? Counter::kMismatched
                                              : Counter::kDuplicateData);
    return;
  }
  if (peer.receive.arrived(header.number) > 0) {
    shared_->window.lost(now);
  }
  shared_->window.arrived(bytes);
  counters.add(dataIn(now, header, payload, payloadBytes));
  considerCredit(header.source);
}

Counter Session::dataIn(
    TimePoint now,
    const PacketHeader& header,
    const std::byte* payload,
    size_t bytes) {
  Op* const op = find(header.op);
  if (op == nullptr) {
    if (isOver(header.op)) {
      return Counter::kLateData;
    }
    return Counter::kUnannounced;
  }
  return op->data(now, header, payload, bytes);
}

void Session::controlIn(
    TimePoint now, int peer, const std::byte* records, size_t bytes) {
  ReadCursor cursor(records, bytes);
  ControlClocks clocks;
  if (!ControlClocks::decode(&cursor, &clocks)) {
    shared_->counters.add(Counter::kMalformed);
    return;
  }
  clocksIn(now, peer, clocks);
  while (cursor.left() > 0) {
    ControlRecord record;
    if (!ControlRecord::decode(&cursor, &record)) {
      shared_->counters.add(Counter::kMalformed);
      return;
    }
    recordIn(now, peer, record);
  }
}

void Session::clocksIn(
    TimePoint now, int rank, const ControlClocks& clocks) {
  Peer& peer = peers_[rank];
  if (peer.stampUs == 0) {  // its first word: it may wait for ours
    peer.creditDue = true;
    peer.controlDue = now;
  }
  peer.stampUs = clocks.stampUs;
  peer.stampAt = now;
  if (clocks.echoUs == 0) {
    return;
  }
  const int32_t us = static_cast<int32_t>(
      microseconds(now) - clocks.echoUs - clocks.heldUs);
  const Duration sample = std::chrono::microseconds(std::max(us, 1));
  peer.roundTrip = peer.roundTrip == Duration{0}
                       ? sample
                       : peer.roundTrip + (sample - peer.roundTrip) / 8;
}

void Session::recordIn(
    TimePoint now, int peer, const ControlRecord& record) {
  Op* op = find(record.op);
  switch (record.type) {
    case ControlType::kAnnounce:
      if (op == nullptr && !isOver(record.op)) {
        const bool fits = record.shape.elements <=
                          shared_->arena.limitBytes() * uint64_t{64};
        if (!fits || ops_.size() >= kUnenteredOpsMax) {
          shared_->counters.add(Counter::kTooEarly);
          return;
        }
        op = findOrStart(now, record.op, record.shape, peer);
        updateActivity();
      }
      if (op != nullptr) {
        op->announced(peer, record.shape);
      } else {  // over here: the peer is late, and should know it is heard
        control(
            peer,
            {ControlType::kAnnounceSeen, record.op, {}, 0, {}, 0, 0},
            false);
        control(
            peer, {ControlType::kClosed, record.op, {}, 0, {}, 0, 0}, false);
      }
      return;
    case ControlType::kAnnounceSeen:
      if (op != nullptr) {
        op->announceSeen(peer);
      }
      return;
    case ControlType::kCredit:
      peers_[peer].send.raise(record.number);
      peers_[peer].blockedRetry = kNever;
      return;
    case ControlType::kBlocked:
      peers_[peer].receive.blocked(record.number);
      peers_[peer].creditDue = true;
      peers_[peer].controlDue = now;
      return;
    case ControlType::kRepair:
      if (op != nullptr) {
        op->repairAsked(peer, record.stage, record.slot, record.slots);
      }
      return;
    case ControlType::kProgress:
      if (op != nullptr) {
        op->progress(now, peer, record.slot);
      }
      return;
    case ControlType::kClosed:
      if (op != nullptr) {
        op->shardClosed(peer);
      }
      return;
    case ControlType::kDone:
      if (op != nullptr) {
        op->done(now, peer);
        forgetIfDone(record.op);
      }
      return;
    case ControlType::kDoneQuery:
      if (op != nullptr) {  // who asks is done; its word for it may be lost
        op->done(now, peer);
      }
      if (isOver(record.op) || (op != nullptr && op->returned())) {
        control(peer, {ControlType::kDone, record.op, {}, 0, {}, 0, 0}, true);
      }
      forgetIfDone(record.op);
      return;
    case ControlType::kLeave:
      peerLeft(peer, record.slot);
      return;
  }
}

uint64_t Session::shareSlots() const {
  const uint64_t slotBytes = setup_.slotBytesMax + PacketHeader::kBytes;
  const int senders = std::max(shared_->activeSenders, setup_.size - 1);
  return std::max<uint64_t>(
      1, shared_->window.bytes() / (senders * slotBytes));
}

// Credit goes out with whatever else there is to say; on its own soon once half
// a share is used up, and at once when little is left.
void Session::considerCredit(int rank) {
  Peer& peer = peers_[rank];
  const uint64_t share = shareSlots();
  const uint64_t left = peer.receive.left();
  if (left <= share / 2) {
    peer.creditDue = true;
    peer.controlDue = std::min(
        peer.controlDue,
        left <= share / 4 ? lastNow_ : lastNow_ + kControlPatience);
  }
}

void Session::writeCredit(int rank, WriteCursor* out) {
  Peer& peer = peers_[rank];
  peer.receive.grant(shareSlots());
  ControlRecord record;
  record.type = ControlType::kCredit;
  record.number = peer.receive.limit();
  record.encode(out);
  if (!peer.creditDue) {
    return;
  }
  peer.creditDue = false;
  for (const auto& [id, op] : ops_) {
    if (out->left() >= ControlRecord::kBytesMax && op->entered() &&
        op->progressRecord(rank, &record)) {
      record.encode(out);
    }
  }
}

// OpHost ---------------------------------------------------------------------

void Session::control(int rank, const ControlRecord& record, bool urgent) {
  Peer& peer = peers_[rank];
  if (peer.gone || peer.control.size() >= kControlQueueMax) {
    return;
  }
  peer.control.push_back(record);
  peer.controlDue = std::min(
      peer.controlDue, urgent ? lastNow_ : lastNow_ + kControlPatience);
}

Duration Session::retryAfter(int peer) const {
  const Duration roundTrip = peers_[peer].roundTrip;
  return roundTrip == Duration{0}
             ? kRetryUnknown
             : std::clamp(4 * roundTrip, kRetryMin, kRetryMax);
}

std::string Session::silence(int peer) const {
  return peers_[peer].stampUs != 0
             ? ""
             : " (nothing valid has come from it over UDP: does a firewall "
               "block it, see GLOO_UBT_PORTS, or is its GLOO_UBT_SECRET "
               "another?)";
}

bool Session::makeRoom() {
  size_t freed = 0;
  for (auto& [id, op] : ops_) {
    freed += op->entered() ? 0 : op->dropEarly();
  }
  return freed > 0;
}

// Out ------------------------------------------------------------------------

bool Session::hasData(int peer) const {
  return std::any_of(ops_.begin(), ops_.end(), [peer](const auto& entry) {
    return entry.second->hasData(peer);
  });
}

bool Session::packetOut(TimePoint now, OutPacket* out) {
  lastNow_ = now;
  for (int i = 0; i < setup_.size; i++) {
    const int rank = (sendTurn_ + i) % setup_.size;
    Peer& peer = peers_[rank];
    if (rank == setup_.rank || peer.gone) {
      continue;
    }
    if (now >= peer.controlDue && controlOut(now, rank, out)) {
      return true;
    }
  }
  for (int i = 0; i < setup_.size; i++) {
    if (sendBurst_ == 0) {
      sendTurn_ = (sendTurn_ + 1) % setup_.size;
      sendBurst_ = kSendBurst;
    }
    const int rank = sendTurn_;
    Peer& peer = peers_[rank];
    // Data for a rank that has not spoken yet could be lost on one that has
    // not joined yet; it is told of ops until it answers.
    if (rank != setup_.rank && !peer.gone && peer.stampUs != 0) {
      if (peer.send.available()) {
        if (dataOut(rank, out)) {
          sendBurst_--;
          return true;
        }
      } else if (peer.blockedRetry == kNever && hasData(rank)) {
        peer.blockedRetry = now + retryAfter(rank);
      }
    }
    sendBurst_ = 0;
  }
  return false;
}

bool Session::controlOut(TimePoint now, int rank, OutPacket* out) {
  Peer& peer = peers_[rank];
  peer.controlDue = kNever;
  if (peer.control.empty() && !peer.creditDue) {
    return false;
  }
  PacketHeader header;
  header.type = PacketType::kControl;
  header.source = static_cast<uint16_t>(setup_.rank);
  header.destination = static_cast<uint16_t>(rank);
  header.epoch = setup_.epoch;
  header.number = PacketHeader::kControlNumber | peer.controlNumber++;

  std::byte* const records = out->head + PacketHeader::kBytes;
  WriteCursor cursor(records, OutPacket::kHeadBytesMax - PacketHeader::kBytes);
  ControlClocks clocks;
  clocks.stampUs = std::max(1u, microseconds(now));
  clocks.echoUs = peer.stampUs;
  clocks.heldUs = microseconds(now) - microseconds(peer.stampAt);
  clocks.encode(&cursor);
  writeCredit(rank, &cursor);
  while (!peer.control.empty() && cursor.left() >= ControlRecord::kBytesMax) {
    peer.control.front().encode(&cursor);
    peer.control.pop_front();
  }
  if (!peer.control.empty()) {
    peer.controlDue = now;
  }
  header.encode(out->head);
  header.tag = packetTag(
      setup_.keys[rank].send, out->head, records, cursor.used());
  header.encode(out->head);
  out->peer = rank;
  out->type = PacketType::kControl;
  out->headBytes = PacketHeader::kBytes + cursor.used();
  out->payload = nullptr;
  out->payloadBytes = 0;
  shared_->counters.add(Counter::kSentControl);
  return true;
}

bool Session::dataOut(int rank, OutPacket* out) {
  Peer& peer = peers_[rank];
  for (auto& [id, op] : ops_) {
    DataSend send;
    if (!op->hasData(rank) || !op->nextData(rank, &send)) {
      continue;
    }
    PacketHeader header;
    header.type = PacketType::kData;
    header.stage = send.stage;
    header.repair = send.repair;
    header.elementType = op->shape().type;
    header.op = id;
    header.slot = send.slot;
    header.source = static_cast<uint16_t>(setup_.rank);
    header.destination = static_cast<uint16_t>(rank);
    header.shard = static_cast<uint16_t>(send.shard);
    header.contributors = send.contributors;
    header.epoch = setup_.epoch;
    header.number = peer.send.take();
    header.encode(out->head);
    const bool whole = setup_.options.auth == AuthMode::kFull;
    header.tag = packetTag(
        setup_.keys[rank].send,
        out->head,
        send.payload,
        whole ? send.payloadBytes : 0);
    header.encode(out->head);
    out->peer = rank;
    out->type = PacketType::kData;
    out->headBytes = PacketHeader::kBytes;
    out->payload = send.payload;
    out->payloadBytes = send.payloadBytes;
    shared_->counters.add(Counter::kSentData);
    return true;
  }
  return false;
}

// Timers ---------------------------------------------------------------------

TimePoint Session::nextDeadline() const {
  TimePoint next = kNever;
  for (const Peer& peer : peers_) {
    if (!peer.gone) {
      next = std::min({next, peer.controlDue, peer.blockedRetry});
    }
  }
  for (const auto& [id, op] : ops_) {
    next = std::min(next, op->nextDeadline());
  }
  return next;
}

void Session::deadlinePassed(TimePoint now) {
  lastNow_ = now;
  for (int rank = 0; rank < setup_.size; rank++) {
    Peer& peer = peers_[rank];
    if (peer.gone || now < peer.blockedRetry) {
      continue;
    }
    if (peer.send.available() || !hasData(rank)) {
      peer.blockedRetry = kNever;
      continue;
    }
    control(
        rank, {ControlType::kBlocked, {}, {}, peer.send.next(), {}, 0, 0},
        true);
    peer.blockedRetry = now + 2 * retryAfter(rank);
  }
  for (auto& [id, op] : ops_) {
    if (now >= op->nextDeadline()) {
      op->deadlinePassed(now);
    }
  }
}

}  // namespace ubt
