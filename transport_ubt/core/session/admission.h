// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/session/lead.h"
#include "transport_ubt/core/wire/op_id.h"

namespace ubt {

// When a call may begin its op: the lead is not used up, the arena has room to
// keep the own shard, and nobody waits for results that this rank has still to
// send. Until then the call waits here. What others have begun waits for
// nothing but the lead.
class Admission {
 public:
  struct Call {
    OpShape shape;
    std::byte* bucket = nullptr;
    TimePoint heldUntil{};  // at most, by results that are owed
    TimePoint until{};
    bool lacksRoom = false;  // and nothing else
  };

  // See Options::leadOps and leadBytes.
  Admission(uint32_t leadOps, uint64_t leadBytes) : lead_(leadOps, leadBytes) {}

  Lead& lead() { return lead_; }
  const Lead& lead() const { return lead_; }

  // Calls that wait, in the order of ids.
  auto begin() { return waiting_.begin(); }
  auto end() { return waiting_.end(); }
  auto begin() const { return waiting_.begin(); }
  auto end() const { return waiting_.end(); }
  bool empty() const { return waiting_.empty(); }
  bool waits(const OpId& id) const { return waiting_.count(id) > 0; }
  void add(const OpId& id, const Call& call) { waiting_.emplace(id, call); }
  // False: it does not wait.
  bool remove(const OpId& id) { return waiting_.erase(id) > 0; }
  void clear() { waiting_.clear(); }

  // Whether the call may begin as far as lead and owed results go. `awaited`:
  // others have begun its op. `owes()`: results are owed. No rank is the first
  // to begin an op while it owes results: the others would come to the next op
  // late, and be left out of it by owners whose clocks had started.
  template <typename Owes>
  bool mayBegin(TimePoint now,
                const Call& call,
                bool awaited,
                const Owes& owes) const {
    return lead_.mayBegin(awaited) &&
           (awaited || now >= call.heldUntil || !owes());
  }
  // The arena had no room for the call's shard. It waits until lagging ranks
  // finish earlier ops, as it does for lead, and looks again in a moment: other
  // sessions use the arena, too.
  void lackRoom(TimePoint now, Call* call) {
    call->lacksRoom = true;
    roomRetry_ = now + kRoomRetry;
  }
  // When a call that may begin has to look again, at the latest.
  TimePoint retryAt(TimePoint now, const Call& call) const {
    return call.lacksRoom ? roomRetry_ : now;
  }

 private:
  static constexpr Duration kRoomRetry = std::chrono::milliseconds(5);

  Lead lead_;
  std::map<OpId, Call> waiting_;
  TimePoint roomRetry_ = kNever;
};

}  // namespace ubt
