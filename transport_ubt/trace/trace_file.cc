// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/trace/trace_file.h"

#include <chrono>

#include "transport_ubt/trace/stage_record.h"

namespace ubt {

TraceFile::TraceFile(const std::string& folder,
                     uint64_t context,
                     int rank,
                     Duration toUnix)
    : context_(context),
      rank_(rank),
      toUnix_(toUnix),
      path_(folder + "/" + std::to_string(context) + "-rank" +
            std::to_string(rank) + ".jsonl"),
      file_(path_) {}

void TraceFile::add(const OpId& id, uint64_t bytes, const OpTrace& trace) {
  if (trace.startedAt == kNever) {
    return;
  }
  const auto began = std::chrono::duration_cast<std::chrono::microseconds>(
      trace.startedAt.time_since_epoch() + toUnix_);
  const std::string line = lineOf(context_, id, bytes, rank_, trace, began);
  std::lock_guard<std::mutex> lock(mutex_);
  file_ << line << "\n" << std::flush;
}

bool TraceFile::ok() {
  std::lock_guard<std::mutex> lock(mutex_);
  return file_.good();
}

}  // namespace ubt
