// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport_ubt/core/base/counters.h"
#include "transport_ubt/core/op/op_report.h"
#include "transport_ubt/sim/checker.h"
#include "transport_ubt/sim/fault_counts.h"
#include "transport_ubt/sim/network.h"
#include "transport_ubt/sim/replica_drift.h"
#include "transport_ubt/sim/sum_error.h"

namespace ubt::sim {

// The results of one run.
struct SimResult {
  std::vector<std::string> violations;  // empty: every check held
  uint64_t ops = 0;                     // ops with a result at some rank
  uint64_t returns = 0;                 // calls that returned a result
  uint64_t boundedOps = 0;              // bounded ones of these returns
  uint64_t errors = 0;                  // calls that threw instead
  uint64_t transformed = 0;  // returns with transformed contributions
  Duration boundedTime{};    // total time of bounded calls
  // For each bounded op that all ranks returned from: the time of the slowest
  // rank, except for the late one.
  std::vector<Duration> opTimes;
  // For each of them: the time of the step, from the end of the op before to
  // the op's end. An op ends once half of the ranks have returned from it. It
  // tells something only if a rank has one op at a time.
  std::vector<Duration> stepTimes;
  // How far results are off, and how far replicas drift apart by them
  // (SimOptions::measureError).
  SumError error;
  ReplicaDrift drift;
  TimePoint lastEnd{};  // of an op, as in stepTimes
  uint64_t pairsMissing = 0;
  uint64_t driftElements = 0;
  uint64_t repairedBytes = 0;
  uint64_t leftOutBytes = 0;        // OpReport::leftOutBytes()
  uint64_t cutBytes = 0;            // StageBytes::cut, of contributions
  uint64_t zeroedElements = 0;      // OpReport::zeroedElements
  uint64_t skipped = 0;             // calls that returned zeros (skip_loss)
  uint64_t resultBits = 0;          // hash of every rank's result of every op
  Counters counters;                // summed over ranks
  std::vector<uint64_t> sentBytes;  // by rank, including all headers
  std::vector<std::string> errorTexts;
  // One for each call, if Options::trace.
  struct Trace {
    int context = 0;
    int rank = 0;
    OpId op;
    uint64_t bytes = 0;
    std::shared_ptr<const OpTrace> arrivals;
  };
  std::vector<Trace> traces;
  // When downlinks were idle, if Options::trace.
  std::vector<Network::Idle> idle;
  FaultCounts faults;  // how often each fault happened

  // A call has returned.
  void add(const OpReport& report);
  // It had a result of these bytes. `which` stands for rank and op.
  void addBits(uint64_t which, const std::vector<std::byte>& result);
  // All ranks have returned from an op.
  void addTogether(const SimOptions& options,
                   const Inputs& inputs,
                   const OpKey& key,
                   const std::vector<Outcome>& outcomes);
};

}  // namespace ubt::sim
