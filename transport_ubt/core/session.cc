// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/session.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ubt {
namespace {

// Bytes of data to one peer in a row: what the kernel sends in one go.
constexpr size_t kSendBurstBytes = 65507;
// Ops that peers may have begun and the local caller not.
constexpr size_t kUnenteredOpsMax = 256;
// The element count travels in 32 bits.
constexpr uint64_t kElementsMax = UINT32_MAX;
// A bound under this many timer latenesses would measure the scheduler.
constexpr int kLatenessFactor = 10;

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
    : setup_(setup),
      shared_(shared),
      opened_(setup.options.auth == AuthMode::kAead
                  ? std::max(setup.slotBytesMax, OutPacket::kHeadBytesMax)
                  : OutPacket::kHeadBytesMax),
      lead_(setup.options.leadOps, setup.options.leadBytes) {
  peers_.reserve(setup.size);
  for (int peer = 0; peer < setup.size; peer++) {
    const auto credit = [&](int receiver) {
      return initialCredit(
          setup.windowBytes[receiver], setup.size - 1, setup.slotBytesMax);
    };
    PeerLink::Setup link;
    link.self = setup.rank;
    link.peer = peer;
    link.epoch = setup.epoch;
    link.keys = setup.keys[peer];
    link.auth = setup.options.auth;
    link.opened = &opened_;
    link.datagramBytesMax =
        PacketHeader::kBytes + setup.slotBytesMax +
        (setup.options.auth == AuthMode::kAead ? kSealBytes : 0);
    link.sendCredit = credit(peer);
    link.receiveCredit = credit(setup.rank);
    peers_.emplace_back(link);
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

const std::string& Session::giveUp() {
  if (failure_.empty()) {
    const int rank = lagging();
    culprit_ = culprit_ < 0 ? rank : culprit_;
    failure_ = "rank " + std::to_string(rank) +
               " has not finished an allreduce that ended here, and did not "
               "within the timeout (no more than " +
               std::to_string(setup_.options.leadOps) +
               " may be ahead of it); is it stuck or stopped?" + silence(rank);
    sendLeave();
  }
  return failure_;
}

OpId Session::enter(TimePoint now,
                    uint32_t tag,
                    const OpShape& shape,
                    std::byte* bucket,
                    Duration timeout) {
  lastNow_ = now;
  const OpId id{tag, tagsOf(shape.space).use(tag), shape.space};
  const Call call{
      shape,
      bucket,
      now + (timeout > Duration{0} ? timeout : setup_.options.timeout)};
  if (lead_.mayBegin(find(id) != nullptr)) {
    begin(id, call);
  } else {
    waiting_.emplace(id, call);
  }
  return id;
}

void Session::begin(const OpId& id, const Call& call) {
  Op* op = find(id);
  if (op == nullptr) {
    op = start(lastNow_, id, call.shape, setup_.rank, {});
  } else if (op->shape() != call.shape) {
    // What this rank brings goes out, so that the others learn of it too.
    for (int peer = 0; peer < setup_.size; peer++) {
      if (peer != setup_.rank) {
        control(peer, ControlRecord::announce(id, call.shape), true);
      }
    }
    op->disagree(setup_.rank, call.shape);
  }
  OpBounds bounds = boundsFor(lastNow_, call.shape);
  if (bounds.warmup) {
    bounds.end = call.until - lastNow_;
  }
  op->enter(lastNow_, call.bucket, bounds);
  updateActivity();
}

// Begins what had to wait for lead and has to no longer.
void Session::admit() {
  for (auto next = waiting_.begin();
       next != waiting_.end() && failure_.empty();) {
    const auto [id, call] = *next;
    ++next;
    if (lead_.mayBegin(find(id) != nullptr)) {
      waiting_.erase(id);
      begin(id, call);
    }
  }
}

bool Session::finished(const OpId& id) const {
  return waiting_.count(id) > 0 ? !failure_.empty() : find(id)->finished();
}

const std::string& Session::failure(const OpId& id) const {
  return waiting_.count(id) > 0 ? failure_ : find(id)->failure();
}

OpReport Session::leave(TimePoint now, const OpId& id) {
  lastNow_ = now;
  if (waiting_.erase(id) > 0) {
    return {};
  }
  Op* const op = find(id);
  OpReport report = op->leave(now);
  shared_->counters.add(Counter::kNotRetained, op->notRetained());
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
    lead_.returned(op->shape().bytes());
    forgetIfDone(id);
  }
  updateActivity();
  return report;
}

void Session::peerClosed(int peer, const std::string& why) {
  if (peers_[peer].closed()) {
    return;
  }
  peers_[peer].close();
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

void Session::sendLeave() {
  left_ = true;
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
  const TagCounts& tags = tags_[static_cast<size_t>(id.space)];
  return id.count < tags.used(id.tag) && ops_.count(id) == 0 &&
         waiting_.count(id) == 0;
}

// REQUIRES that the op is not here.
Op* Session::start(TimePoint now,
                   const OpId& id,
                   const OpShape& shape,
                   int announcer,
                   ArenaBuffer room) {
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
  auto begun =
      std::make_unique<Op>(setup, boundsFor(now, shape), now, std::move(room));
  Op* const op = ops_.emplace(id, std::move(begun)).first->second.get();
  for (int peer = 0; peer < setup_.size; peer++) {
    if (peers_[peer].closed()) {
      op->peerGone(peer, failure_);
    }
  }
  return op;
}

// Null if a peer may not begin this op here; then `whyNot` says why.
Op* Session::startFromPeer(TimePoint now,
                           const OpId& id,
                           const OpShape& shape,
                           int peer,
                           Counter* whyNot) {
  if (shape.elements > kElementsMax) {  // no honest rank's
    *whyNot = Counter::kMismatched;
    return nullptr;
  }
  if (ops_.size() >= kUnenteredOpsMax) {
    *whyNot = Counter::kTooEarly;
    return nullptr;
  }
  const size_t bytes =
      Op::bytesFor(ShardLayout(shape, setup_.size, setup_.slotBytesMax),
                   setup_.rank,
                   setup_.size);
  ArenaBuffer room = shared_->arena.reserve(bytes);
  if (!room && makeRoom()) {
    room = shared_->arena.reserve(bytes);
  }
  if (!room) {
    *whyNot = Counter::kArenaFull;
    return nullptr;
  }
  Op* const op = start(now, id, shape, peer, std::move(room));
  updateActivity();
  admit();  // what a peer has begun may not have to wait here
  return op;
}

void Session::forgetIfDone(const OpId& id) {
  const Op* const op = find(id);
  if (op != nullptr && op->returned() && op->doneEverywhere()) {
    lead_.doneEverywhere(op->shape().bytes());
    ops_.erase(id);
    admit();
  }
}

OpBounds Session::boundsFor(TimePoint now, const OpShape& shape) {
  const Options& options = setup_.options;
  const SizeClass& sizes = classes_[sizeClass(shape.bytes())];
  const bool byHand = options.boundScatter > Duration{0};
  OpBounds bounds;
  bounds.scatter =
      byHand ? options.boundScatter : sizes.scatter.bound(options.boundMode);
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

void Session::packetIn(TimePoint now,
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
  PeerLink& peer = peers_[header.source];
  PeerLink::Payload payload;
  if (!peer.open(header, datagram, bytes, &payload)) {
    counters.add(Counter::kBadTag);
    return;
  }
  peer.heardAt = now;
  const bool control = header.type == PacketType::kControl;
  if (peer.closed()) {
    counters.add(control ? Counter::kClosedPeer : Counter::kLateData);
    return;
  }
  if (control) {
    counters.add(peer.isFirst(header) ? controlIn(now, header.source, payload)
                                      : Counter::kReplayed);
    return;
  }
  if (header.number >= peer.receive.limit()) {
    // A number that was never granted is no honest sender's.
    counters.add(Counter::kMismatched);
    return;
  }
  if (!peer.isFirst(header)) {
    counters.add(Counter::kDuplicateData);
    return;
  }
  if (peer.receive.arrived(header.number) > 0) {
    shared_->window.lost(now);
  }
  shared_->window.arrived(bytes);
  counters.add(dataIn(now, header, payload.data, payload.bytes));
  considerCredit(header.source);
}

Counter Session::dataIn(TimePoint now,
                        const PacketHeader& header,
                        const std::byte* payload,
                        size_t bytes) {
  Op* op = find(header.op);
  if (op == nullptr) {
    if (isOver(header.op)) {
      return Counter::kLateData;
    }
    if (header.stage == Stage::kBroadcast) {
      return Counter::kUnannounced;
    }
    const OpShape shape{header.elements,
                        header.elementType,
                        setup_.options.fingerprint(),
                        header.op.space};
    const ShardLayout layout(shape, setup_.size, setup_.slotBytesMax);
    if (header.slot >= layout.slots(setup_.rank) ||
        bytes != layout.slotSize(setup_.rank, header.slot)) {
      return Counter::kMismatched;  // no op begins with what does not fit it
    }
    Counter whyNot{};
    op = startFromPeer(now, header.op, shape, header.source, &whyNot);
    if (op == nullptr) {
      return whyNot;
    }
  }
  return op->data(now, header, payload, bytes);
}

// What comes before a malformed record counts all the same.
Counter Session::controlIn(TimePoint now,
                           int peer,
                           const PeerLink::Payload& payload) {
  ReadCursor cursor(payload.data, payload.bytes);
  ControlClocks clocks;
  if (!ControlClocks::decode(&cursor, &clocks)) {
    return Counter::kMalformed;
  }
  if (!payload.foreign) {
    peers_[peer].clocksIn(now, clocks);
  }
  // What stands behind a leave is of nobody any more.
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

void Session::recordIn(TimePoint now, int peer, const ControlRecord& record) {
  Op* op = find(record.op);
  switch (record.type) {
    case ControlType::kAnnounce:
      if (op == nullptr && !isOver(record.op)) {
        Counter whyNot{};
        op = startFromPeer(now, record.op, record.shape, peer, &whyNot);
        if (op == nullptr) {
          shared_->counters.add(Counter::kRefusedAnnounce);
          return;
        }
      }
      if (op != nullptr) {
        op->announced(peer, record.shape);
      } else {  // over here: the peer is late, and should know it is heard
        control(peer,
                ControlRecord::about(ControlType::kAnnounceSeen, record.op),
                false);
        control(
            peer, ControlRecord::about(ControlType::kClosed, record.op), false);
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
      peers_[peer].creditBy(now);
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
        control(
            peer, ControlRecord::about(ControlType::kDone, record.op), true);
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
  return std::max<uint64_t>(1, shared_->window.bytes() / (senders * slotBytes));
}

// Credit goes out with whatever else there is to say; on its own soon once half
// a share is used up, and at once when little is left.
void Session::considerCredit(int rank) {
  PeerLink& peer = peers_[rank];
  const uint64_t share = shareSlots();
  const uint64_t left = peer.receive.left();
  if (left <= share / 2) {
    const bool urgent = left <= (share + 1) / 4;
    peer.creditBy(urgent ? lastNow_ : PeerLink::patience(lastNow_));
  }
}

void Session::writeCredit(int rank, WriteCursor* out) {
  PeerLink& peer = peers_[rank];
  peer.receive.grant(shareSlots());
  ControlRecord record;
  record.type = ControlType::kCredit;
  record.number = peer.receive.limit();
  record.encode(out);
  for (const auto& [id, op] : ops_) {
    if (peer.creditDue() && out->left() >= ControlRecord::kBytesMax &&
        op->entered() && op->progressRecord(rank, &record)) {
      record.encode(out);
    }
  }
}

// OpHost ---------------------------------------------------------------------

void Session::control(int rank, const ControlRecord& record, bool urgent) {
  if (!peers_[rank].queue(lastNow_, record, urgent)) {
    shared_->counters.add(Counter::kControlDropped);
  }
}

Duration Session::retryAfter(int peer) const {
  return peers_[peer].retryAfter();
}

TimePoint Session::lastHeard(int peer) const {
  return peers_[peer].heardAt;
}

std::string Session::silence(int peer) const {
  return peers_[peer].heard()
             ? ""
             : " (nothing valid has come from it over UDP: does a firewall "
               "block it, see GLOO_UBT_PORTS, or is its GLOO_UBT_SECRET "
               "another?)";
}

bool Session::makeRoom() {
  uint64_t dropped = 0;
  for (auto& [id, op] : ops_) {
    dropped += op->entered() ? 0 : op->dropEarly();
  }
  shared_->counters.add(Counter::kDroppedEarly, dropped);
  return dropped > 0;
}

// Out ------------------------------------------------------------------------

bool Session::hasData(int peer) const {
  return std::any_of(ops_.begin(), ops_.end(), [peer](const auto& entry) {
    return entry.second->hasData(peer);
  });
}

// Peers take turns. In its turn a peer gets a burst of data and then, behind it
// so that both can leave as one train, what control is due.
bool Session::packetOut(TimePoint now, OutPacket* out) {
  lastNow_ = now;
  for (int i = 0; i <= setup_.size; i++) {
    if (sendTurn_ != setup_.rank && !peers_[sendTurn_].closed() &&
        peerOut(now, sendTurn_, out)) {
      return true;
    }
    nextTurn();
  }
  return false;
}

bool Session::burstOut(TimePoint now, OutPacket* out) {
  lastNow_ = now;
  if (sendBurstBytes_ == 0) {
    return false;
  }
  if (!peers_[sendTurn_].closed() && peerOut(now, sendTurn_, out)) {
    return true;
  }
  nextTurn();
  return false;
}

void Session::nextTurn() {
  sendTurn_ = (sendTurn_ + 1) % setup_.size;
  sendBurstBytes_ = 0;
}

bool Session::peerOut(TimePoint now, int rank, OutPacket* out) {
  PeerLink& peer = peers_[rank];
  const size_t packetBytes = setup_.slotBytesMax + PacketHeader::kBytes;
  // Data for a rank that has not spoken yet could be lost on one that has not
  // joined yet; it is told of ops until it answers.
  if (peer.heard() && sendBurstBytes_ + packetBytes <= kSendBurstBytes) {
    if (!peer.send.available()) {
      if (peer.blockedRetry == kNever && hasData(rank)) {
        peer.blockedRetry = now + retryAfter(rank);
      }
    } else if (dataOut(rank, out)) {
      sendBurstBytes_ += out->headBytes + out->payloadBytes;
      return true;
    }
  }
  sendBurstBytes_ = kSendBurstBytes;  // only control from here on
  const auto credit = [&](WriteCursor* cursor) { writeCredit(rank, cursor); };
  if (now < peer.controlDue() || !peer.controlOut(now, credit, out)) {
    return false;
  }
  shared_->counters.add(Counter::kSentControl);
  return true;
}

bool Session::dataOut(int rank, OutPacket* out) {
  for (auto& [id, op] : ops_) {
    DataSend send;
    if (!op->hasData(rank) || !op->nextData(rank, &send)) {
      continue;
    }
    PacketHeader header;
    header.stage = send.stage;
    header.repair = send.repair;
    header.elementType = op->shape().type;
    header.op = id;
    header.slot = send.slot;
    header.elements = static_cast<uint32_t>(op->shape().elements);
    header.contributors = send.contributors;
    peers_[rank].dataOut(header, send.payload, send.payloadBytes, out);
    shared_->counters.add(Counter::kSentData);
    return true;
  }
  return false;
}

// Timers ---------------------------------------------------------------------

TimePoint Session::nextDeadline() const {
  TimePoint next = kNever;
  for (const PeerLink& peer : peers_) {
    next = std::min({next, peer.controlDue(), peer.blockedRetry});
  }
  for (const auto& [id, op] : ops_) {
    next = std::min(next, op->nextDeadline());
  }
  for (const auto& [id, call] : waiting_) {
    next = failure_.empty() ? std::min(next, call.until) : next;
  }
  return next;
}

void Session::deadlinePassed(TimePoint now) {
  lastNow_ = now;
  for (int rank = 0; rank < setup_.size; rank++) {
    PeerLink& peer = peers_[rank];
    if (now < peer.blockedRetry) {
      continue;
    }
    if (peer.send.available() || !hasData(rank)) {
      peer.blockedRetry = kNever;
      continue;
    }
    control(rank,
            {ControlType::kBlocked, {}, {}, peer.send.next(), {}, 0, 0},
            true);
    peer.blockedRetry = now + 2 * retryAfter(rank);
  }
  for (auto& [id, op] : ops_) {
    if (now >= op->nextDeadline()) {
      op->deadlinePassed(now);
    }
  }
  for (const auto& [id, call] : waiting_) {
    if (now >= call.until) {
      giveUp();
    }
  }
}

}  // namespace ubt
