// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/session/session_state.h"

namespace ubt {

// Makes room for ops. Each rank of each session has an equal share of memory
// for ops that it alone has begun and that no caller has entered here. If it
// holds more, its newest ops make way for others. Not thread-safe.
class OpRoom {
 public:
  // `session` must outlive this.
  explicit OpRoom(SessionState* session) : session_(session) {}

  // See OpHost::makeRoom(). The op that makes way may belong to another
  // session.
  bool make(int asker, size_t more);
  // The table of ops is full. Evicts one, so that the asker may begin another.
  // False: none makes way. REQUIRES a rank.
  bool makeForNumber(int asker);

  // An op that no caller has entered here expires after twice the timeout: by
  // then no rank waits for it, unless users set different timeouts. An op with
  // a closed shard stays, because its results are final. kNever: the op does
  // not expire.
  TimePoint expiryOf(const Op& op) const;
  void expireUnentered(TimePoint now);

 private:
  size_t shareBytes() const;
  bool evictForBytes(int asker, size_t wanted);

  SessionState* const session_;
};

}  // namespace ubt
