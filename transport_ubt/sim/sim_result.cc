// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/sim_result.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ubt::sim {
namespace {

// When half of the ranks had returned.
TimePoint endOf(const std::vector<Outcome>& outcomes) {
  std::vector<TimePoint> ends;
  ends.reserve(outcomes.size());
  for (const Outcome& outcome : outcomes) {
    ends.push_back(outcome.returnedAt);
  }
  const auto half = ends.begin() + static_cast<int64_t>((ends.size() - 1) / 2);
  std::nth_element(ends.begin(), half, ends.end());
  return *half;
}

}  // namespace

void SimResult::add(const OpReport& report) {
  returns++;
  boundedOps += report.bounded;
  transformed += std::count(report.contributed.begin(),
                            report.contributed.end(),
                            Form::kTransformed) > 0;
  boundedTime += report.bounded ? report.elapsed : Duration{0};
  pairsMissing += report.pairsMissing;
  driftElements += report.driftElements;
  zeroedElements += report.zeroedElements;
  skipped += report.skipped;
  leftOutBytes += report.leftOutBytes();
  for (size_t rank = 0; rank < report.scatter.size(); rank++) {
    repairedBytes +=
        report.scatter[rank].repaired + report.broadcast[rank].repaired;
    cutBytes += report.scatter[rank].cut;
  }
}

void SimResult::addBits(uint64_t which, const std::vector<std::byte>& result) {
  uint64_t hash = which;
  for (size_t at = 0; at < result.size(); at += sizeof(hash)) {
    uint64_t word = 0;
    std::memcpy(&word, &result[at], std::min(sizeof(word), result.size() - at));
    hash = (hash ^ word) * 0x100000001b3ULL;
  }
  resultBits ^= mix(hash);
}

void SimResult::addTogether(const SimOptions& options,
                            const Inputs& inputs,
                            const OpKey& key,
                            const std::vector<Outcome>& outcomes) {
  const TimePoint stepStart = std::exchange(lastEnd, endOf(outcomes));
  if (!outcomes.front().report.bounded) {
    return;
  }
  Duration slowest{0};
  for (int rank = 0; rank < options.ranks; rank++) {
    if (options.isTimed(rank)) {
      slowest = std::max(slowest, outcomes[rank].took);
    }
  }
  opTimes.push_back(slowest);
  stepTimes.push_back(lastEnd - stepStart);
  if (options.measureError) {
    error.add(inputs, key, outcomes);
    drift.add(inputs, key, outcomes);
  }
}

}  // namespace ubt::sim
