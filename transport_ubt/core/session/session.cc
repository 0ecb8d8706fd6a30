// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/session/session.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace ubt {

Session::Session(const Setup& setup, SharedState* shared)
    : state_(setup, shared),
      silence_(setup.size),
      learning_(state_.setup.options, setup.size),
      admission_(setup.options.leadOps, setup.options.leadBytes),
      departure_(setup.size),
      outOfMemory_("rank " + std::to_string(setup.rank) +
                   " ran out of memory in the middle of a bounded allreduce") {}

std::string Session::silence(int peer) const {
  return state_.peers[peer].heard()
             ? ""
             : " (no valid UDP datagram has arrived from it: "
               "does a firewall block it (GLOO_UBT_PORTS), or "
               "is its GLOO_UBT_SECRET different?)";
}

bool Session::isOver(const OpId& id) const {
  return state_.ops.wasUsed(id) && state_.ops.find(id) == nullptr &&
         !admission_.waits(id);
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
  setup.options = &state_.setup.options;
  setup.reduction = &state_.shared->reduction;
  setup.arena = &state_.shared->arena;
  setup.host = this;
  auto begun = std::make_unique<Op>(
      setup,
      parts,
      learning_.boundsFor(shape,
                          state_.shared->lateness.worst(now),
                          state_.setup.options.timeout),
      std::move(room));
  Op* const op = state_.ops.add(id, std::move(begun));
  for (int peer = 0; peer < state_.setup.size; peer++) {
    if (state_.peers[peer].closed()) {
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
  if (state_.ops.full() && !room_.makeForNumber(peer)) {
    *whyNot = Counter::kTooEarly;
    return nullptr;
  }
  const size_t bytes = Op::bytesFor(parts);
  const size_t all = bytes + ScatterStage::roomFor(parts.layout,
                                                   parts.own(),
                                                   parts.ranks.members(),
                                                   state_.setup.options.order);
  ArenaBuffer reserved = state_.shared->arena.reserve(bytes);
  while (!reserved && room_.make(peer, all)) {
    reserved = state_.shared->arena.reserve(bytes);
  }
  if (!reserved) {
    *whyNot = Counter::kArenaFull;
    return nullptr;
  }
  Op* const op = start(now, id, shape, parts, peer, std::move(reserved));
  state_.updateActivity();
  admit(now);  // the own call of this op may have waited
  return op;
}

void Session::forgetIfDone(TimePoint now, const OpId& id) {
  const Op* const op = state_.ops.find(id);
  if (op != nullptr && op->returned() && op->doneEverywhere()) {
    admission_.lead().doneEverywhere(op->shape().bytes());
    learning_.done(op->sample());
    state_.ops.erase(id);
    admit(now);
  }
}

TimePoint Session::nextDeadline() const {
  if (state_.broken) {
    return state_.ops.empty() ? state_.controlDues.earliest() : TimePoint{};
  }
  TimePoint next = std::min({state_.controlDues.earliest(),
                             questions_.earliest(),
                             departure_.dueAt(),
                             silence_.earliest(),
                             state_.multicast.nextDeadline(),
                             losses_.earliest(),
                             credit_.dueAt()});
  for (const auto& [id, op] : state_.ops) {
    next = std::min({next, op->nextDeadline(), room_.expiryOf(*op)});
  }
  for (const auto& [id, call] : admission_) {
    if (!departure_.hasFailed()) {
      next = std::min({next, call.until, call.warnAt});
    }
  }
  if (!admission_.empty()) {
    next = std::min(next, mayBeginAt());
  }
  return next;
}

void Session::passDeadlines(TimePoint now) {
  questions_.askDue(now);
  losses_.deadlinePassed(now);
  credit_.deadlinePassed(now);
  multicastDeadline(now);
  if (now >= departure_.dueAt()) {
    sayLeaveToAll(now);
  }
  lookForSilence(now);
  for (auto& [id, op] : state_.ops) {
    if (now >= op->nextDeadline()) {
      op->deadlinePassed(now);
    }
  }
  room_.expireUnentered(now);
  admit(now);
  for (auto& [id, call] : admission_) {
    if (now >= call.warnAt) {
      call.warnAt = kNever;
      warnOfWait(call);
    }
    if (now >= call.until) {
      giveUp(now, call);
    }
  }
}

void Session::multicastDeadline(TimePoint now) {
  if (now < state_.multicast.nextDeadline()) {
    return;
  }
  const Multicast::Passed passed =
      state_.multicast.deadlinePassed(now, state_.active());
  for (const int rank : passed.deaf) {
    for (auto& [id, op] : state_.ops) {
      op->outbox().leaveMulticast(rank);
    }
  }
  for (const int rank : passed.sought) {
    ControlRecord key;
    key.type = ControlType::kMulticastKey;
    key.multicastKey =
        masked(state_.setup.multicastSeed, state_.setup.keys[rank].sendMask);
    state_.control(now, rank, key, true);
  }
}

}  // namespace ubt
