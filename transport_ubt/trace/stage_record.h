// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/op/op_trace.h"
#include "transport_ubt/core/wire/op_id.h"

namespace ubt {

// The record of one scatter stage at its owner, as a line of JSON:
//
//   {"context": 77, "op": "0.7.3", "bytes": 4000000, "rank": 1, "slots": 348,
//    "entered_us": [0, -12, null], "through_us": [...],
//    "arrivals": [[2, 1034, 22], ...],
//    "began_unix_us": 1700000000000000, "called_us": -12, "closed_us": 60110,
//    "results_us": [118002, null, 117800], "returned_us": 118010}
//
// context, op: equal on all ranks (epoch; the tag's space, the tag and its use
// count). Times are microseconds from the start of the stage's clock; null: it
// did not happen. arrivals: rank, time, slots. slots: that each rank owes.
// began_unix_us: that start, in the host's time of day. The later fields are
// times of the call: its begin, the closing of the own shard, the last result
// of each owner, the return. The replay does not read them.
struct StageRecord {
  struct Sender {
    bool entered = false;
    Duration enteredAt{0};
    // When it reported that half of its own contributions' senders are
    // complete, or that its shard is closed; kUnknown: not.
    Duration throughAt = kUnknown;
    std::vector<OpTrace::Arrival> arrivals;  // `at` since the clock's start

    // When its last slot arrived; kUnknown: some did not.
    Duration completeAt(uint32_t slots) const;
    // Of its slots, those that arrived after `at`, or never.
    uint32_t after(Duration at, uint32_t slots) const;
  };
  static constexpr Duration kUnknown = Duration::max();

  uint64_t context = 0;
  std::string op;
  uint64_t bytes = 0;  // of the bucket
  int rank = 0;
  uint32_t slots = 0;
  std::vector<Sender> senders;  // by rank; the own entry has no arrivals
};

// The line, without its end. `began`: when the stage's clock started, since the
// Unix epoch. REQUIRES that it has started.
std::string lineOf(uint64_t context,
                   const OpId& id,
                   uint64_t bytes,
                   int rank,
                   const OpTrace& trace,
                   std::chrono::microseconds began);

// Reads lines to the end. Throws std::invalid_argument that names the first
// line that is not one of lineOf().
std::vector<StageRecord> readRecords(std::istream* in);

}  // namespace ubt
