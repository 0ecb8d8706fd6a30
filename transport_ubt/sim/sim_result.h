// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transport_ubt/core/base/counters.h"
#include "transport_ubt/core/op/op_report.h"
#include "transport_ubt/sim/checker.h"
#include "transport_ubt/sim/fault_counts.h"
#include "transport_ubt/sim/replica_drift.h"
#include "transport_ubt/sim/sum_error.h"

namespace ubt::sim {

// What one run did.
struct SimResult {
  std::vector<std::string> violations;  // empty: every check held
  uint64_t ops = 0;                     // that returned a result somewhere
  uint64_t returns = 0;                 // calls that returned a result
  uint64_t boundedOps = 0;              // of those, after warm-up
  uint64_t errors = 0;                  // calls that threw instead
  uint64_t early = 0;        // bounded returns of which a stage ended early
  uint64_t transformed = 0;  // returns of calls that contributed so
  Duration boundedTime{};    // of bounded calls, together
  // Of each bounded op that all ranks returned from, the slowest rank's but for
  // the late one, and how far its results are off, and replicas apart by them
  // (SimOptions::measureError).
  std::vector<Duration> opTimes;
  SumError error;
  ReplicaDrift drift;
  uint64_t pairsMissing = 0;
  uint64_t driftElements = 0;
  uint64_t repairedBytes = 0;
  uint64_t zeroedElements = 0;      // of own shards, for what was missing
  uint64_t skipped = 0;             // returns of zeros, for what was missing
  uint64_t resultBits = 0;          // a hash of every rank's result of every op
  Counters counters;                // summed over ranks
  std::vector<uint64_t> sentBytes;  // by rank, with all headers
  std::vector<std::string> errorTexts;
  FaultCounts faults;  // how often which fault happened

  // A call has returned.
  void add(const OpReport& report);
  // With a result of these bytes; `which` rank and op it was.
  void addBits(uint64_t which, const std::vector<std::byte>& result);
  // All ranks have returned from an op.
  void addTogether(const SimOptions& options,
                   const Inputs& inputs,
                   const OpKey& key,
                   const std::vector<Outcome>& outcomes);
};

}  // namespace ubt::sim
