// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/trace/trace_file.h"

#include <chrono>

#include "transport_ubt/trace/stage_record.h"

namespace ubt {

TraceFile::TraceFile(const std::string& folder, uint64_t context, int rank)
    : context_(context),
      rank_(rank),
      path_(folder + "/" + std::to_string(context) + "-rank" +
            std::to_string(rank) + ".jsonl"),
      file_(path_) {}

void TraceFile::add(TimePoint now,
                    const OpId& id,
                    uint64_t bytes,
                    const OpTrace& trace) {
  if (trace.startedAt == kNever) {
    return;
  }
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  const auto timeOfDay = std::chrono::system_clock::now().time_since_epoch();
  const auto began = duration_cast<microseconds>(timeOfDay) -
                     duration_cast<microseconds>(now - trace.startedAt);
  const std::string line = lineOf(context_, id, bytes, rank_, trace, began);
  std::lock_guard<std::mutex> lock(mutex_);
  file_ << line << "\n" << std::flush;
}

bool TraceFile::ok() {
  std::lock_guard<std::mutex> lock(mutex_);
  return file_.good();
}

}  // namespace ubt
