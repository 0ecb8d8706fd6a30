// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/session/session.h"

#include <algorithm>
#include <utility>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/base/retries.h"

namespace ubt {
namespace {

// Before a round trip is known.
constexpr Duration kRetryUnknown = std::chrono::milliseconds(10);

// The first credit of each sender to a window.
uint64_t initialCredit(uint64_t windowBytes, int senders, size_t slotBytes) {
  return std::max<uint64_t>(
      1,
      DeliveryWindow::startOf(windowBytes, senders, slotBytes) /
          (senders * slotBytes));
}

size_t datagramBytesMax(const Session::Setup& setup) {
  return PacketHeader::kBytes + setup.slotBytesMax +
         (setup.options.auth == AuthMode::kAead ? kSealBytes : 0);
}

Multicast::Setup multicastOf(const Session::Setup& setup,
                             std::vector<std::byte>* opened) {
  Multicast::Setup multicast;
  multicast.on = setup.options.multicast;
  multicast.rank = setup.rank;
  multicast.size = setup.size;
  multicast.epoch = setup.epoch;
  multicast.auth = setup.options.auth;
  multicast.seed = setup.multicastSeed;
  for (const PeerKeys& keys : setup.keys) {
    multicast.masks.push_back(keys.receiveMask);
  }
  multicast.datagramBytesMax = datagramBytesMax(setup);
  multicast.opened = opened;
  return multicast;
}

}  // namespace

Session::Session(const Setup& setup, SharedState* shared)
    : setup_(setup),
      parts_{
          setup.rank,
          setup.size,
          setup.slotBytesMax,
          setup_.groups && setup_.groups->even() ? &*setup_.groups : nullptr},
      shared_(shared),
      opened_(setup.options.auth == AuthMode::kAead
                  ? std::max(setup.slotBytesMax, OutPacket::kHeadBytesMax)
                  : OutPacket::kHeadBytesMax),
      controlDues_(setup.size),
      blocked_(setup.size),
      lossBytes_(setup.slotBytesMax + PacketHeader::kBytes),
      losses_(setup.size),
      silence_(setup.size),
      multicast_(multicastOf(setup, &opened_)),
      grants_(setup.size - 1, setup.slotBytesMax + PacketHeader::kBytes),
      ops_(setup.size, setup.options.tagEntriesMax),
      learning_(setup_.options, setup.size),
      admission_(setup.options.leadOps, setup.options.leadBytes),
      departure_(setup.size),
      turns_(setup.size),
      outOfMemory_("rank " + std::to_string(setup.rank) +
                   " ran out of memory in the middle of a bounded allreduce") {
  if (setup.options.loops == Loops::kPaper) {
    incast_.emplace(setup.rank, setup.size);
  }
  UBT_REQUIRE(setup.size > 1 && setup.rank >= 0 && setup.rank < setup.size);
  UBT_REQUIRE(setup.keys.size() == static_cast<size_t>(setup.size));
  UBT_REQUIRE(setup.windowBytes.size() == static_cast<size_t>(setup.size));
  shared->window.start(
      DeliveryWindow::startOf(
          setup.windowBytes[setup.rank], setup.size - 1, setup.slotBytesMax),
      setup.slotBytesMax);
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
    link.controlDues = &controlDues_;
    link.datagramBytesMax = datagramBytesMax(setup);
    link.sendCredit = credit(peer);
    link.receiveCredit = credit(setup.rank);
    peers_.emplace_back(link);
    peers_.back().losses = LossDetector(setup.options.has(Loop::kReordering));
  }
  shared->sessions.push_back(this);
}

Session::~Session() {
  auto& sessions = shared_->sessions;
  sessions.erase(std::find(sessions.begin(), sessions.end(), this));
  setActive(false);
}

// Peers ----------------------------------------------------------------------

void Session::closePeer(TimePoint now, int peer, const std::string& why) {
  if (peers_[peer].closed()) {
    return;
  }
  peers_[peer].close();
  blocked_.set(peer, kNever);
  silence_.stop(peer);
  multicast_.close(peer);
  if (departure_.fail(why)) {
    departure_.blame(peer);
  }
  std::vector<OpId> ids;
  for (auto& [id, op] : ops_) {
    if (failure() == why && op->failure().any()) {
      // Most likely this made the peer go.
      departure_.explain(op->failure().text());
    }
    op->peerGone(peer, failure());
    ids.push_back(id);
  }
  for (const OpId& id : ids) {
    forgetIfDone(now, id);
  }
}

// The needed rank that has been silent longest; -1: no silence is long.
int Session::longSilent() const {
  int silent = -1;
  for (int peer = 0; peer < setup_.size; peer++) {
    if (peer != setup_.rank && awaits(peer) &&
        silence_.isLong(peer, peers_[peer].heardAt) &&
        (silent < 0 || lastHeard(peer) < lastHeard(silent))) {
      silent = peer;
    }
  }
  return silent;
}

// This rank closed its connections, because another operation of Gloo timed
// out. Perhaps it waited for the same rank as the ops here.
void Session::closedAll(TimePoint now, const std::string& why) {
  OpFailure::Blame missing;
  for (const auto& [id, op] : ops_) {
    if (missing.text.empty() && op->entered() && !op->finished()) {
      missing = op->missingRanks();
      departure_.blame(missing.rank);
    }
  }
  departure_.blame(setup_.rank);
  fail(now,
       missing.text.empty()
           ? why
           : why +
                 "; the calls here still wait for these ranks:" + missing.text);
}

// A rank may close its connections because it timed out waiting for another
// one.
void Session::connectionClosed(TimePoint now,
                               int peer,
                               const std::string& why) {
  if (peer == setup_.rank) {
    closedAll(now, why);
    return;
  }
  const int silent = longSilent();
  if (silent < 0 || silent == peer || peers_[peer].closed() ||
      departure_.hasFailed()) {
    closePeer(now, peer, why);
    return;
  }
  departure_.blame(silent);
  closePeer(now,
            peer,
            "rank " + std::to_string(silent) + " has been silent for " +
                std::to_string(SilenceWatch::kLong / std::chrono::seconds(1)) +
                " s or longer" + silence(silent) + ", and then " + why);
}

void Session::peerLeft(TimePoint now, int peer, uint32_t because) {
  const std::string who = "rank " + std::to_string(peer);
  if (because >= static_cast<uint32_t>(setup_.size)) {
    closePeer(now, peer, who + " has destroyed its context");
    return;
  }
  // This rank's own observations are closer to the cause.
  for (const auto& [id, op] : ops_) {
    departure_.blame(op->failure().culprit());
  }
  departure_.blame(static_cast<int>(because));
  if (static_cast<int>(because) == peer) {
    closePeer(now,
              peer,
              who + " has given up because of its own error; see its output");
  }
  closePeer(
      now,
      peer,
      who + " has given up because of rank " + std::to_string(because) +
          (static_cast<int>(because) == setup_.rank ? " (this one)" : "") +
          ", which died, hangs, came too late, is cut off or disagrees with "
          "it");
  // The job has failed: other ranks may stop sending, too.
  for (auto& [id, op] : ops_) {
    op->giveUp(failure());
  }
}

void Session::sayLeaveToAll(TimePoint now) {
  departure_.leave();
  // A peer that is told ignores this rank from then on, and repeats nothing. So
  // calls here would not get their missing data.
  for (auto& [id, op] : ops_) {
    if (departure_.hasFailed()) {
      op->giveUp(failure());
    }
  }
  for (int peer = 0; peer < setup_.size; peer++) {
    if (peer != setup_.rank) {
      sayLeave(now, peer);
    }
  }
}

void Session::sayLeave(TimePoint now, int peer) {
  control(now, peer, departure_.leaveRecord(), true);
  departure_.sentTo(peer, now);
}

// Ops ------------------------------------------------------------------------

bool Session::isOver(const OpId& id) const {
  return ops_.wasUsed(id) && ops_.find(id) == nullptr && !admission_.waits(id);
}

// REQUIRES that the op is not here yet.
Op* Session::start(TimePoint now,
                   const OpId& id,
                   const OpShape& shape,
                   const OpParts& parts,
                   int announcer,
                   ArenaBuffer room) {
  Op::Setup setup;
  setup.id = id;
  setup.shape = shape;
  setup.announcer = announcer;
  setup.begunAt = now;
  setup.options = &setup_.options;
  setup.reduction = &shared_->reduction;
  setup.arena = &shared_->arena;
  setup.host = this;
  auto begun = std::make_unique<Op>(
      setup,
      parts,
      learning_.boundsFor(
          shape, shared_->lateness.worst(now), setup_.options.timeout),
      std::move(room));
  Op* const op = ops_.add(id, std::move(begun));
  for (int peer = 0; peer < setup_.size; peer++) {
    if (peers_[peer].closed()) {
      op->peerGone(peer, failure());
    }
  }
  return op;
}

// Null: a peer may not begin this op here, and `whyNot` says why.
Op* Session::startFromPeer(TimePoint now,
                           const OpId& id,
                           const OpShape& shape,
                           const OpParts& parts,
                           int peer,
                           Counter* whyNot) {
  if (!takes(shape)) {  // no honest rank brings such a shape
    *whyNot = Counter::kMismatched;
    return nullptr;
  }
  if (ops_.full() && !evictForNumber(peer)) {
    *whyNot = Counter::kTooEarly;
    return nullptr;
  }
  const size_t bytes = Op::bytesFor(parts);
  const size_t all = bytes + ScatterStage::roomFor(parts.layout,
                                                   parts.own(),
                                                   parts.ranks.members(),
                                                   setup_.options.order);
  ArenaBuffer room = shared_->arena.reserve(bytes);
  while (!room && makeRoom(peer, all)) {
    room = shared_->arena.reserve(bytes);
  }
  if (!room) {
    *whyNot = Counter::kArenaFull;
    return nullptr;
  }
  Op* const op = start(now, id, shape, parts, peer, std::move(room));
  updateActivity();
  admit(now);  // the own call of this op may have waited
  return op;
}

void Session::forgetIfDone(TimePoint now, const OpId& id) {
  const Op* const op = ops_.find(id);
  if (op != nullptr && op->returned() && op->doneEverywhere()) {
    admission_.lead().doneEverywhere(op->shape().bytes());
    learning_.done(op->sample());
    ops_.erase(id);
    admit(now);
  }
}

// Data flows into this session while a call is open here.
void Session::updateActivity() {
  setActive(ops_.any([](const Op& op) { return !op.returned(); }));
}

void Session::setActive(bool active) {
  if (active == active_) {
    return;
  }
  active_ = active;
  shared_->activeSenders += active ? setup_.size - 1 : 1 - setup_.size;
  if (shared_->activeSenders == 0) {
    shared_->window.pause();
  }
}

// OpHost ---------------------------------------------------------------------

void Session::control(TimePoint now,
                      int rank,
                      const ControlRecord& record,
                      bool urgent) {
  if (!peers_[rank].queue(now, record, urgent)) {
    shared_->counters.add(Counter::kControlDropped);
  }
}

Duration Session::lossAfter(TimePoint now, int peer) const {
  return longerThanTrip(now, peer, 9);
}

Duration Session::longerThanTrip(TimePoint now, int peer, int eighths) const {
  const Duration trip = peers_[peer].roundTrip();
  return std::max(eighths * trip / 8, trip + 2 * shared_->lateness.worst(now));
}

Duration Session::retryAfter(TimePoint now, int peer) const {
  return peers_[peer].roundTrip() == Duration{0}
             ? kRetryUnknown
             : std::min<Duration>(longerThanTrip(now, peer, 12),
                                  Retries::kPauseMost);
}

TimePoint Session::lastHeard(int peer) const {
  return peers_[peer].heardAt;
}

std::string Session::silence(int peer) const {
  return peers_[peer].heard() ? ""
                              : " (no valid UDP datagram has arrived from it: "
                                "does a firewall block it (GLOO_UBT_PORTS), or "
                                "is its GLOO_UBT_SECRET different?)";
}

bool Session::makeRoom(int asker, size_t more) {
  const size_t held =
      asker >= 0 ? ops_.heldFor(asker, OpTable::Measure::kBytes) : 0;
  if (evictForRoom(asker, asker >= 0 ? held + more : 0)) {
    return true;
  }
  if (held > shareBytes()) {
    return false;
  }
  uint64_t dropped = 0;
  bool any = false;
  for (auto& [id, op] : ops_) {
    if (op->entered()) {
      any = op->giveRoomBack() || any;
    } else {
      dropped += op->dropEarly();
    }
  }
  shared_->counters.add(Counter::kDroppedEarly, dropped);
  return any || dropped > 0;
}

}  // namespace ubt
