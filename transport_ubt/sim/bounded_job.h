// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "transport_ubt/core/op/op_report.h"
#include "transport_ubt/sim/ended_call.h"
#include "transport_ubt/sim/hosts.h"
#include "transport_ubt/sim/sim_options.h"

namespace ubt::sim {

// Bounded allreduces in virtual time, for callers outside of the simulator.
// They give the time and the data of each rank's entry, and learn when each
// call returns. Between these times they may compute. Not thread-safe.
class BoundedJob {
 public:
  // Ignores the options about a World's callers, about late ranks, and about
  // processes, contexts and connections that end or pause. REQUIRES one
  // context, and at least two ranks.
  BoundedJob(const SimOptions& options, const Reduction& reduction);
  BoundedJob(const BoundedJob&) = delete;
  BoundedJob& operator=(const BoundedJob&) = delete;

  // The rank enters an op at the time `at` since the job's start, or now if
  // that has passed. Ops have numbers. All ranks enter the same ones, with as
  // many elements, each in an order of its own. Until the call has ended, the
  // bucket is the op's, which writes the sum over ranks there.
  void enter(
      int rank, uint32_t op, Duration at, float* bucket, uint32_t elements);

  // Advances virtual time until a call ends, and describes it in `ended`.
  // Returns false if none can end before another call begins.
  bool next(EndedCall* ended);

  // Since the job's start.
  Duration now() const { return hosts_.events().now() - start_; }
  // What broke a promise of docs/semantics.md; empty: nothing did.
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  struct Call {
    int rank = 0;
    uint32_t op = 0;
    float* bucket = nullptr;
    uint32_t elements = 0;
    OpId id;
  };

  void begin(Call call);
  void progress(int rank);
  void end(const Call& call, const std::string& why, OpReport report);

  const SimOptions options_;
  std::vector<std::string> violations_;
  Hosts hosts_;
  const TimePoint start_;
  std::vector<std::vector<Call>> calls_;  // that are inside, by rank
  uint64_t underWay_ = 0;                 // calls that have not ended
  std::deque<EndedCall> ended_;           // that next() has not told
};

}  // namespace ubt::sim
