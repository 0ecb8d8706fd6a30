// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/session/session_state.h"

#include <algorithm>
#include <chrono>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/base/retries.h"

namespace ubt {
namespace {

// Before a round trip is known.
constexpr Duration kRetryUnknown = std::chrono::milliseconds(10);
// Limits how short trains are cut: trains to all peers together have at least
// kRoundBytes, and a shard has at most kTrainsInShard of them.
constexpr size_t kRoundBytes = 512 << 10;
constexpr size_t kTrainsInShard = 8;

// The first credit of each sender to a window.
uint64_t initialCredit(uint64_t windowBytes, int senders, size_t slotBytes) {
  return std::max<uint64_t>(
      1,
      DeliveryWindow::startOf(windowBytes, senders, slotBytes) /
          (senders * slotBytes));
}

size_t datagramBytesMax(const SessionState::Setup& setup) {
  return PacketHeader::kBytes + setup.slotBytesMax +
         (setup.options.auth == AuthMode::kAead ? kSealBytes : 0);
}

Multicast::Setup multicastOf(const SessionState::Setup& setup,
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

SessionState::SessionState(const Setup& setup, SharedState* shared)
    : setup(setup),
      parts{setup.rank,
            setup.size,
            setup.slotBytesMax,
            this->setup.groups && this->setup.groups->even()
                ? &*this->setup.groups
                : nullptr},
      shared(shared),
      opened(setup.options.auth == AuthMode::kAead
                 ? std::max(setup.slotBytesMax, OutPacket::kHeadBytesMax)
                 : OutPacket::kHeadBytesMax),
      controlDues(setup.size),
      multicast(multicastOf(setup, &opened)),
      ops(setup.size, setup.options.tagEntriesMax) {
  UBT_REQUIRE(setup.size > 1 && setup.rank >= 0 && setup.rank < setup.size);
  UBT_REQUIRE(setup.keys.size() == static_cast<size_t>(setup.size));
  UBT_REQUIRE(setup.windowBytes.size() == static_cast<size_t>(setup.size));
  shared->window.start(
      DeliveryWindow::startOf(
          setup.windowBytes[setup.rank], setup.size - 1, setup.slotBytesMax),
      setup.slotBytesMax);
  peers.reserve(setup.size);
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
    link.opened = &opened;
    link.controlDues = &controlDues;
    link.datagramBytesMax = datagramBytesMax(setup);
    link.sendCredit = credit(peer);
    link.receiveCredit = credit(setup.rank);
    peers.emplace_back(link);
    peers.back().losses = LossDetector(setup.options.has(Loop::kReordering));
  }
  shared->sessions.push_back(this);
}

SessionState::~SessionState() {
  auto& sessions = shared->sessions;
  sessions.erase(std::find(sessions.begin(), sessions.end(), this));
  setActive(false);
}

void SessionState::control(TimePoint now,
                           int peer,
                           const ControlRecord& record,
                           bool urgent) {
  if (!peers[peer].queue(now, record, urgent)) {
    shared->counters.add(Counter::kControlDropped);
  }
}

Duration SessionState::lossAfter(TimePoint now, int peer) const {
  return longerThanTrip(now, peer, 9);
}

Duration SessionState::longerThanTrip(TimePoint now,
                                      int peer,
                                      int eighths) const {
  const Duration trip = peers[peer].roundTrip();
  return std::max(eighths * trip / 8, trip + 2 * shared->lateness.worst(now));
}

Duration SessionState::retryAfter(TimePoint now, int peer) const {
  return peers[peer].roundTrip() == Duration{0}
             ? kRetryUnknown
             : std::min<Duration>(longerThanTrip(now, peer, 12),
                                  Retries::kPauseMost);
}

bool SessionState::hasData(int peer) const {
  return ops.any([peer](const Op& op) { return op.outbox().hasData(peer); });
}

// A slot's sum needs contributions of all ranks. With long trains to many
// peers, hardly any slot would be complete before all contributions have left,
// and the stages would not overlap.
size_t SessionState::trainBytes(TimePoint now) const {
  size_t bytes = TrainLength::kBytesMin;
  for (const auto& [id, op] : ops) {
    const size_t owners = op->parts().ranks.members();
    bytes = std::max({bytes,
                      op->shape().bytes() / owners / kTrainsInShard,
                      kRoundBytes / owners});
  }
  return std::min(shared->trains.bytes(now, shared->link.bytesPerSecond()),
                  bytes);
}

void SessionState::updateActivity() {
  setActive(ops.any([](const Op& op) { return !op.returned(); }));
}

void SessionState::dropOps() {
  ops.clear();
  setActive(false);
}

void SessionState::setActive(bool flows) {
  if (flows == active_) {
    return;
  }
  active_ = flows;
  shared->activeSenders += flows ? setup.size - 1 : 1 - setup.size;
  if (shared->activeSenders == 0) {
    shared->window.pause();
  }
}

}  // namespace ubt
