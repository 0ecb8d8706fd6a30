// SPDX-License-Identifier: Apache-2.0
#include "benchmark/virtual/virtual_job.h"

#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "benchmark/algorithm_name.h"
#include "benchmark/simulated_algorithm.h"
#include "transport_ubt/kernels/reduction_kernels.h"
#include "transport_ubt/sim/bounded_job.h"
#include "transport_ubt/sim/exact_job.h"

using gloo::compare::AlgorithmName;

struct UbtVirtualJob {
  int ranks = 0;
  // One of the two.
  std::unique_ptr<ubt::sim::BoundedJob> bounded;
  std::unique_ptr<ubt::sim::ExactJob> exact;
  ubt::sim::EndedCall last;
};

namespace {

UbtVirtualJob* openJob(const std::string& algorithm,
                       const std::string& text,
                       int ranks) {
  auto options = ubt::sim::SimOptions::parse(text);
  options.ranks = ranks;
  if (ranks < 2 || options.contexts != 1) {
    throw std::invalid_argument("ranks: at least 2; contexts: 1");
  }
  const auto name = AlgorithmName::parse(algorithm);
  ubt::sim::checkSimulated(name, options.ranks, options.groups);
  auto job = std::make_unique<UbtVirtualJob>();
  job->ranks = ranks;
  if (ubt::sim::isSimulatedByCore(name)) {
    job->bounded = std::make_unique<ubt::sim::BoundedJob>(
        ubt::sim::withSettings(options, name), ubt::reductionKernels());
  } else {
    job->exact = std::make_unique<ubt::sim::ExactJob>(options, name.algorithm);
  }
  return job.release();
}

// The share of `part` in `whole`, which may be empty.
double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0
                    : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

UbtVirtualJob* ubt_virtual_open(const char* algorithm,
                                const char* options,
                                int32_t ranks,
                                char* error,
                                size_t error_bytes) {
  try {
    return openJob(algorithm, options, ranks);
  } catch (const std::exception& wrong) {
    std::snprintf(error, error_bytes, "%s", wrong.what());
    return nullptr;
  }
}

void ubt_virtual_enter(UbtVirtualJob* job,
                       int32_t rank,
                       uint32_t op,
                       double at,
                       float* bucket,
                       uint32_t elements) {
  const auto since = std::chrono::duration_cast<ubt::Duration>(
      std::chrono::duration<double>(at));
  if (job->bounded != nullptr) {
    job->bounded->enter(rank, op, since, bucket, elements);
  } else {
    job->exact->enter(rank, op, since, elements);
  }
}

int ubt_virtual_next(UbtVirtualJob* job, UbtVirtualEnded* ended) {
  if (job->bounded != nullptr ? !job->bounded->next(&job->last)
                              : !job->exact->next(&job->last)) {
    return 0;
  }
  const auto& last = job->last;
  const auto& report = last.report;
  ended->rank = last.rank;
  ended->op = last.op;
  ended->at = std::chrono::duration<double>(last.at).count();
  ended->missing = share(report.pairsMissing, report.pairsExpected);
  // Pairs, as pairsMissing: this rank's shard is 1 / ranks of the bucket.
  ended->cut = share(
      report.leftOutBytes() / sizeof(float) * static_cast<uint64_t>(job->ranks),
      report.pairsExpected);
  ended->bounded = report.bounded ? 1 : 0;
  ended->skipped = report.skipped ? 1 : 0;
  ended->failure = last.failure.empty() ? nullptr : last.failure.c_str();
  if (job->bounded != nullptr && !job->bounded->violations().empty()) {
    ended->failure = job->bounded->violations().front().c_str();
  }
  return 1;
}

void ubt_virtual_close(UbtVirtualJob* job) {
  delete job;
}
