// SPDX-License-Identifier: Apache-2.0
#include "benchmark/virtual/virtual_job.h"

#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>

#include "benchmark/algorithm_name.h"
#include "benchmark/simulated_algorithm.h"
#include "transport_ubt/kernels/reduction_kernels.h"
#include "transport_ubt/sim/bounded_job.h"

using gloo::compare::AlgorithmName;

struct UbtVirtualJob {
  explicit UbtVirtualJob(const ubt::sim::SimOptions& options)
      : job(options, ubt::reductionKernels()) {}

  ubt::sim::BoundedJob job;
  ubt::sim::BoundedJob::Ended last;
};

namespace {

ubt::sim::SimOptions optionsOf(const char* algorithm, const char* text) {
  const auto options = ubt::sim::SimOptions::parse(text);
  const auto name = AlgorithmName::parse(algorithm);
  ubt::sim::checkSimulated(name, options.ranks, options.groups);
  if (!ubt::sim::isSimulatedByCore(name)) {
    throw std::invalid_argument(name.text + ": has to be a bounded algorithm");
  }
  return ubt::sim::withSettings(options, name);
}

// The share of `part` in `whole`, which may be empty.
double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0
                    : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

UbtVirtualJob* ubt_virtual_open(const char* algorithm,
                                const char* options,
                                char* error,
                                size_t error_bytes) {
  try {
    return new UbtVirtualJob(optionsOf(algorithm, options));
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
  job->job.enter(rank, op, since, bucket, elements);
}

int ubt_virtual_next(UbtVirtualJob* job, UbtVirtualEnded* ended) {
  if (!job->job.next(&job->last)) {
    return 0;
  }
  const auto& last = job->last;
  const auto& report = last.report;
  ended->rank = last.rank;
  ended->op = last.op;
  ended->at = std::chrono::duration<double>(last.at).count();
  ended->missing = share(report.pairsMissing, report.pairsExpected);
  ended->cut =
      share(report.leftOutBytes() / sizeof(float), report.pairsExpected);
  ended->bounded = report.bounded ? 1 : 0;
  ended->skipped = report.skipped ? 1 : 0;
  ended->failure = last.failure.empty() ? nullptr : last.failure.c_str();
  return 1;
}

void ubt_virtual_close(UbtVirtualJob* job) {
  delete job;
}
