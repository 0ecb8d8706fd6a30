// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include "transport_ubt/core/base/counters.h"

namespace ubt::sim {

// The counters of datagrams that come from nobody in the job.
inline constexpr std::initializer_list<Counter> kRejects = {
    Counter::kMalformed,
    Counter::kUnknownEpoch,
    Counter::kWrongRank,
    Counter::kBadTag,
    Counter::kOwnEcho,
    Counter::kNoMulticastKey};

// The number of those datagrams.
inline uint64_t rejectedIn(const Counters& counters) {
  uint64_t rejected = 0;
  for (const Counter reject : kRejects) {
    rejected += counters.get(reject);
  }
  return rejected;
}

// Datagrams that the network and the counters do not account for.
struct Traffic {
  // They reached ranks that had crashed, had closed the context, had not joined
  // yet, had no room, or got a corrupted copy in their place.
  uint64_t deafData = 0;
  uint64_t deafControl = 0;
  uint64_t strangers = 0;  // sent by nobody in the job
};

}  // namespace ubt::sim
