// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "transport_ubt/core/op/op_report.h"

namespace ubt {

// Finds ranks that are late for every allreduce. Nobody waits for them, so
// their contributions are in no sum, and training goes on without their share
// of the data. Not thread-safe.
class AbsenceWatch {
 public:
  // A rank counts as always late after this many bounded calls in a row. A
  // pause of a process is shorter. A job that halts for missing data
  // (ubt::Halt) does so later.
  static constexpr int kCalls = 30;

  // Takes the report of a call. Returns a warning when a rank, for the first
  // time, has been absent from kCalls calls in a row: nothing came from it into
  // this rank's shard, because it had not entered. Otherwise empty.
  std::string returned(const OpReport& report);

 private:
  std::vector<int> calls_;  // by rank; above kCalls: warned of
};

}  // namespace ubt
