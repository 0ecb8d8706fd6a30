// SPDX-License-Identifier: Apache-2.0
//
// Limits on ops that no caller has entered here. Each rank of each session has
// an equal share of memory for ops that it alone has begun. If it holds more,
// its newest ops make way for others.

#include "transport_ubt/core/session/session.h"

namespace ubt {

// All sessions share the arena. A rank has a share in each of its sessions.
size_t Session::shareBytes() const {
  size_t ranks = 0;
  for (const Session* const session : shared_->sessions) {
    ranks += session->setup_.size;
  }
  return shared_->arena.limitBytes() / ranks;
}

// The op that makes way may belong to another session.
bool Session::evictForRoom(int asker, size_t wanted) {
  const size_t share = shareBytes();
  Session* session = nullptr;
  OpTable::Holder most;
  for (Session* const other : shared_->sessions) {
    const OpTable::Holder found =
        other->broken_ ? OpTable::Holder()
                       : other->ops_.greediest(OpTable::Measure::kBytes,
                                               share,
                                               other == this ? asker : -1,
                                               wanted);
    if (found.held > most.held) {
      most = found;
      session = other;
    }
  }
  if (session != nullptr) {
    session->evict(most.newest);
  }
  return session != nullptr;
}

bool Session::evictForNumber(int asker) {
  const size_t share = std::max<size_t>(1, OpTable::kOpsMax / setup_.size);
  const size_t wanted = ops_.heldFor(asker, OpTable::Measure::kOps) + 1;
  if (wanted > share) {
    return false;
  }
  const OpTable::Holder most =
      ops_.greediest(OpTable::Measure::kOps, share, asker, wanted);
  if (most.rank >= 0) {
    evict(most.newest);
  }
  return most.rank >= 0;
}

void Session::evict(const OpId& id) {
  ops_.erase(id);
  shared_->counters.add(Counter::kEvictedOps);
  updateActivity();
}

// An op that no caller has entered here expires after twice the timeout: by
// then no rank waits for it, unless users set different timeouts. An op with a
// closed shard stays, because its results are final.
void Session::expireUnentered(TimePoint now) {
  const size_t expired = ops_.eraseIf([&](const Op& op) {
    return !op.entered() && !op.hasResults() && now >= expiryOf(op);
  });
  if (expired > 0) {
    shared_->counters.add(Counter::kExpiredOps, expired);
    updateActivity();
  }
}

}  // namespace ubt
