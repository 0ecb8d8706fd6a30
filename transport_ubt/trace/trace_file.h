// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <mutex>
#include <string>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/op/op_trace.h"
#include "transport_ubt/core/wire/op_id.h"

namespace ubt {

// One rank's records of one context (StageRecord), a line for each op, in
// FOLDER/CONTEXT-rankRANK.jsonl, which it replaces. The folder must exist.
// Thread-safe.
class TraceFile {
 public:
  // `toUnix`: from the time of the traces to the time since the Unix epoch.
  TraceFile(const std::string& folder,
            uint64_t context,
            int rank,
            Duration toUnix);

  // Adds a line, unless the stage's clock never started.
  void add(const OpId& id, uint64_t bytes, const OpTrace& trace);

  // Whether everything could be written, and where it should be.
  bool ok();
  const std::string& path() const { return path_; }

 private:
  const uint64_t context_;
  const int rank_;
  const Duration toUnix_;
  const std::string path_;
  std::mutex mutex_;
  std::ofstream file_;
};

}  // namespace ubt
