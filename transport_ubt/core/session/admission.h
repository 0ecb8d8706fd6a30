// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/session/lead.h"
#include "transport_ubt/core/wire/op_id.h"

namespace ubt {

// Decides when a call may begin its op. Until then the call waits here. It
// waits
// - while the lead is used up,
// - while the arena has no room to keep the own shard.
// An op that others have begun waits only for the lead.
class Admission {
 public:
  struct Call {
    OpShape shape;
    std::byte* bucket = nullptr;
    TimePoint until{};          // its timeout
    TimePoint warnAt = kNever;  // when to warn of a long wait
    bool lacksRoom = false;     // it waits only for room
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

  // The time of the next try to begin the op, unless something changes first. A
  // past time: now. kNever: not before the lead shrinks. `awaited`: others have
  // begun the op. A call that lacks room looks for it after a moment.
  TimePoint triesAt(const Call& call, bool awaited) const {
    return !lead_.mayBegin(awaited) ? kNever
           : call.lacksRoom         ? roomRetry_
                                    : TimePoint{};
  }
  // The arena has no room for the call's shard. The call waits until lagging
  // ranks finish earlier ops. It looks again after a moment, because other
  // sessions use the arena, too.
  void lackRoom(TimePoint now, Call* call) {
    call->lacksRoom = true;
    roomRetry_ = now + kRoomRetry;
  }

 private:
  static constexpr Duration kRoomRetry = std::chrono::milliseconds(5);

  Lead lead_;
  std::map<OpId, Call> waiting_;
  TimePoint roomRetry_ = kNever;
};

}  // namespace ubt
