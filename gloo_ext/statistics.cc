// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gloo_ext {
namespace {

void addTo(Statistics::Peer* peer, const ubt::StageBytes& bytes) {
  peer->expectedBytes += bytes.expected;
  peer->absentBytes += bytes.absent;
  peer->lateBytes += bytes.late;
  peer->cutBytes += bytes.cut;
  peer->lostBytes += bytes.lost;
  peer->refusedBytes += bytes.refused;
  peer->repairedBytes += bytes.repaired;
}

// Nearest rank. REQUIRES a sample.
std::chrono::nanoseconds percentile(
    std::vector<std::chrono::nanoseconds> samples, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * samples.size())) - 1;
  std::nth_element(samples.begin(), samples.begin() + rank, samples.end());
  return samples[rank];
}

}  // namespace

void Statistics::addToPeer(const BoundedOp& op, int rank) {
  Peer& peer = peers_[(*op.addresses)[rank]];
  if (op.size > peer.size) {
    peer.address = (*op.addresses)[rank];
    peer.rank = rank;
    peer.size = op.size;
  }
  peer.absentOps += op.report.scatter[rank].absent > 0;
  if (!op.report.lateBy.empty()) {
    peer.late += op.report.lateBy[rank];
  }
  for (const ubt::StageBytes& bytes :
       {op.report.scatter[rank], op.report.broadcast[rank]}) {
    addTo(&peer, bytes);
    totals_.repairedBytes += bytes.repaired;
  }
}

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
  // Comes first, because the rest may run out of memory: all ranks have to know
  // that they skip.
  totals_.skippedOps += report.skipped;
  skippedSince_ = skippedSince_ || report.skipped;
  last_ = op;
  const auto tracked = tracked_.find(op.data);
  if (tracked != tracked_.end()) {
    tracked->second = op;
  }
  totals_.bytes += op.bytes;
  for (int rank = 0; rank < op.size; rank++) {
    if (rank != op.rank) {
      addToPeer(op, rank);
    }
  }
  // An op that was bounded only at other ranks may lack data, too.
  if (report.bounded || report.pairsMissing > 0) {
    totals_.expiredOps += report.expired();
    totals_.pairsExpected += report.pairsExpected;
    totals_.pairsMissing += report.pairsMissing;
    totals_.driftElements += report.driftElements;
    totals_.zeroedElements += report.zeroedElements;
  }
  if (!report.bounded) {
    totals_.warmupOps++;
    return;
  }
  totals_.boundedOps++;
  totals_.safeguards = report.safeguards;
  const int log = std::ilogb(static_cast<double>(op.bytes));
  bounds_[log] = {size_t{1} << log, report.boundScatter, report.boundBroadcast};
  if (recent_.size() < kRecent) {
    recent_.push_back(op.took);
  } else {
    recent_[next_++ % kRecent] = op.took;
  }
}

Statistics::Totals Statistics::totals() const {
  std::lock_guard<std::mutex> lock(mutex_);
  Totals totals = totals_;
  for (const auto& [log, bound] : bounds_) {
    totals.bounds.push_back(bound);
  }
  for (const auto& [address, peer] : peers_) {
    totals.peers.push_back(peer);
  }
  std::stable_sort(
      totals.peers.begin(),
      totals.peers.end(),
      [](const Peer& a, const Peer& b) { return a.rank < b.rank; });
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

bool Statistics::skippedSince() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(skippedSince_, false);
}

void Statistics::track(const void* data) {
  std::lock_guard<std::mutex> lock(mutex_);
  tracked_[data].reset();
}

void Statistics::forget(const void* data) {
  std::lock_guard<std::mutex> lock(mutex_);
  tracked_.erase(data);
}

std::optional<BoundedOp> Statistics::tracked(const void* data) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = tracked_.find(data);
  return found == tracked_.end() ? std::nullopt : found->second;
}

}  // namespace gloo_ext
