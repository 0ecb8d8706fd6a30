// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/statistics.h"

#include <algorithm>

namespace gloo_ext {
namespace {

void addTo(Statistics::Peer* peer, const ubt::StageBytes& bytes) {
  peer->expectedBytes += bytes.expected;
  peer->absentBytes += bytes.absent;
  peer->lateBytes += bytes.late;
  peer->lostBytes += bytes.lost;
  peer->refusedBytes += bytes.refused;
  peer->repairedBytes += bytes.repaired;
}

// Nearest rank. REQUIRES a sample.
std::chrono::nanoseconds percentile(
    std::vector<std::chrono::nanoseconds> samples, double share) {
  const size_t rank =
      std::min(samples.size() - 1, static_cast<size_t>(share * samples.size()));
  std::nth_element(samples.begin(), samples.begin() + rank, samples.end());
  return samples[rank];
}

}  // namespace

void Statistics::exact() {
  std::lock_guard<std::mutex> lock(mutex_);
  totals_.exactOps++;
}

void Statistics::failed() {
  std::lock_guard<std::mutex> lock(mutex_);
  totals_.failedOps++;
}

void Statistics::add(const BoundedOp& op) {
  std::lock_guard<std::mutex> lock(mutex_);
  const ubt::OpReport& report = op.report;
  last_ = op;
  totals_.bytes += op.bytes;
  totals_.peers.resize(
      std::max(totals_.peers.size(), static_cast<size_t>(op.size)));
  for (int rank = 0; rank < op.size; rank++) {
    addTo(&totals_.peers[rank], report.scatter[rank]);
    addTo(&totals_.peers[rank], report.broadcast[rank]);
  }
  if (!report.bounded) {
    totals_.warmupOps++;
    return;
  }
  totals_.boundedOps++;
  totals_.expiredOps +=
      report.scatterExpired || report.endedBy != ubt::EndedBy::kComplete;
  totals_.pairsExpected += report.pairsExpected;
  totals_.pairsMissing += report.pairsMissing;
  totals_.driftElements += report.driftElements;
  if (recent_.size() < kRecent) {
    recent_.push_back(op.took);
  } else {
    recent_[next_++ % kRecent] = op.took;
  }
}

Statistics::Totals Statistics::totals() const {
  std::lock_guard<std::mutex> lock(mutex_);
  Totals totals = totals_;
  if (!recent_.empty()) {
    totals.p50 = percentile(recent_, 0.5);
    totals.p99 = percentile(recent_, 0.99);
  }
  return totals;
}

std::optional<BoundedOp> Statistics::last() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return last_;
}

}  // namespace gloo_ext
