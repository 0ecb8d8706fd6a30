// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/session/op_room.h"

#include <algorithm>

namespace ubt {
namespace {

void evict(SessionState* session, const OpId& id) {
  session->ops.erase(id);
  session->shared->counters.add(Counter::kEvictedOps);
  session->updateActivity();
}

}  // namespace

// All sessions share the arena. A rank has a share in each of its sessions.
size_t OpRoom::shareBytes() const {
  size_t ranks = 0;
  for (const SessionState* const session : session_->shared->sessions) {
    ranks += session->setup.size;
  }
  return session_->shared->arena.limitBytes() / ranks;
}

bool OpRoom::evictForBytes(int asker, size_t wanted) {
  const size_t share = shareBytes();
  SessionState* session = nullptr;
  OpTable::Holder most;
  for (SessionState* const other : session_->shared->sessions) {
    const OpTable::Holder found =
        other->broken ? OpTable::Holder()
                      : other->ops.greediest(OpTable::Measure::kBytes,
                                             share,
                                             other == session_ ? asker : -1,
                                             wanted);
    if (found.held > most.held) {
      most = found;
      session = other;
    }
  }
  if (session != nullptr) {
    evict(session, most.newest);
  }
  return session != nullptr;
}

bool OpRoom::makeForNumber(int asker) {
  OpTable& ops = session_->ops;
  const size_t share =
      std::max<size_t>(1, OpTable::kOpsMax / session_->setup.size);
  const size_t wanted = ops.heldFor(asker, OpTable::Measure::kOps) + 1;
  if (wanted > share) {
    return false;
  }
  const OpTable::Holder most =
      ops.greediest(OpTable::Measure::kOps, share, asker, wanted);
  if (most.rank >= 0) {
    evict(session_, most.newest);
  }
  return most.rank >= 0;
}

bool OpRoom::make(int asker, size_t more) {
  OpTable& ops = session_->ops;
  const size_t held =
      asker >= 0 ? ops.heldFor(asker, OpTable::Measure::kBytes) : 0;
  if (evictForBytes(asker, asker >= 0 ? held + more : 0)) {
    return true;
  }
  if (held > shareBytes()) {
    return false;
  }
  uint64_t dropped = 0;
  bool any = false;
  for (auto& [id, op] : ops) {
    if (op->entered()) {
      any = op->giveRoomBack() || any;
    } else {
      dropped += op->dropEarly();
    }
  }
  session_->shared->counters.add(Counter::kDroppedEarly, dropped);
  return any || dropped > 0;
}

TimePoint OpRoom::expiryOf(const Op& op) const {
  return op.entered() || op.hasResults()
             ? kNever
             : op.begunAt() + 2 * session_->setup.options.timeout;
}

void OpRoom::expireUnentered(TimePoint now) {
  const size_t expired =
      session_->ops.eraseIf([&](const Op& op) { return now >= expiryOf(op); });
  if (expired > 0) {
    session_->shared->counters.add(Counter::kExpiredOps, expired);
    session_->updateActivity();
  }
}

}  // namespace ubt
