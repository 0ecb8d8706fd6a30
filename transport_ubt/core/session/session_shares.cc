// SPDX-License-Identifier: Apache-2.0
//
// What ranks may make a session hold for ops that no caller has entered here. A
// rank that alone has begun some is safe up to its share, which is as large as
// any rank's of any session. Beyond, its ops make way, the newest first.

#include "transport_ubt/core/session/session.h"

namespace ubt {

// The arena is that of all sessions, and a rank of several has a share in each.
size_t Session::shareBytes() const {
  size_t ranks = 0;
  for (const Session* const session : shared_->sessions) {
    ranks += session->setup_.size;
  }
  return shared_->arena.limitBytes() / ranks;
}

// Whichever session it is in.
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
  const size_t share = OpTable::kOpsMax / setup_.size;
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

// After twice the timeout no rank waits for an op that has not begun here: no
// call outlasts its session's timeout, which is the same on all ranks unless
// users set it otherwise. But results of a shard that was closed without the
// caller are final: they wait for it.
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
