// SPDX-License-Identifier: Apache-2.0
//
// What ranks may make a session hold for ops that no caller has entered here. A
// rank that alone has begun some is safe up to its share, which is as large as
// any rank's of any session. Beyond, its ops make way, the newest first.

#include <algorithm>

#include "transport_ubt/core/session/session.h"

namespace ubt {
namespace {

size_t bytesOf(const Op& op) {
  return op.heldBytes();
}

size_t numberOf(const Op& /*op*/) {
  return 1;
}

}  // namespace

template <typename Measure>
std::vector<size_t> Session::sharesBy(const Measure& measure) const {
  std::vector<size_t> held(setup_.size);
  for (const auto& [id, op] : ops_) {
    if (op->asker() >= 0) {
      held[op->asker()] += measure(*op);
    }
  }
  return held;
}

// Of ranks beyond their share, the one that holds most. One that wants more
// than its own share takes only from a rank that then still holds as much.
// Otherwise two ranks would evict each other's ops in turns.
template <typename Measure>
Session::Greediest Session::greediest(size_t share,
                                      int except,
                                      size_t wanted,
                                      const Measure& measure) const {
  struct Newest {
    OpId id;
    TimePoint begunAt{};
    size_t held = 0;
  };
  std::vector<Newest> newest(setup_.size);
  for (const auto& [id, op] : ops_) {
    if (op->asker() >= 0 && op->begunAt() >= newest[op->asker()].begunAt) {
      newest[op->asker()] = {id, op->begunAt(), measure(*op)};
    }
  }
  const std::vector<size_t> held = sharesBy(measure);
  Greediest found;
  for (int rank = 0; rank < setup_.size; rank++) {
    const size_t rest = held[rank] - newest[rank].held;
    if (rank != except && held[rank] > std::max(share, found.held) &&
        (wanted <= share || rest >= wanted)) {
      found = {rank, held[rank], newest[rank].id};
    }
  }
  return found;
}

size_t Session::heldBy(int rank) const {
  return sharesBy(bytesOf)[rank];
}

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
  Greediest most;
  for (Session* const other : shared_->sessions) {
    const Greediest found =
        other->broken_
            ? Greediest()
            : other->greediest(
                  share, other == this ? asker : -1, wanted, bytesOf);
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
  const size_t share = kOpsMax / setup_.size;
  const size_t wanted = sharesBy(numberOf)[asker] + 1;
  if (wanted > share) {
    return false;
  }
  const Greediest most = greediest(share, asker, wanted, numberOf);
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
  bool any = false;
  for (auto next = ops_.begin(); next != ops_.end();) {
    const auto at = next++;
    const Op& op = *at->second;
    if (!op.entered() && !op.hasResults() && now >= expiryOf(op)) {
      ops_.erase(at);
      shared_->counters.add(Counter::kExpiredOps);
      any = true;
    }
  }
  if (any) {
    updateActivity();
  }
}

}  // namespace ubt
