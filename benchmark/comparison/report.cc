// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/report.h"

#include <iostream>

#include "benchmark/samples.h"

namespace gloo {
namespace compare {

using Json = nlohmann::ordered_json;

namespace {

// With fewer samples, p99.9 would be the maximum.
constexpr size_t kSamplesForP999 = 1000;

}  // namespace

Json rowOf(const AlgorithmSpec& spec,
           const Measured& measured,
           int ranks,
           size_t elements) {
  const benchmark::Distribution<double> latencies(measured.slowestUs);
  const benchmark::Distribution<double> steps(measured.stepUs);
  const double iterations = latencies.size();
  const double bytes = elements * sizeof(float);
  const double algbw = bytes / (latencies.percentile(.5) * 1e-6);
  // The least traffic on each rank's link, in either direction.
  const double busFactor = 2.0 * (ranks - 1) / ranks;
  const double gigabytes = ranks * bytes * iterations / 1e9;
  Json row;
  row["algorithm"] = spec.name;
  row["transport"] = spec.transport;
  row["repair"] = spec.repair.empty() ? Json() : Json(spec.repair);
  row["ranks"] = ranks;
  row["elements"] = elements;
  row["bytes"] = elements * sizeof(float);
  row["iterations"] = measured.slowestUs.size();
  row["bounded_ops"] = measured.boundedOps;
  row["expired_ops"] = measured.expiredOps;
  row["bound_us"] = measured.boundUs > 0 ? Json(measured.boundUs) : Json();
  row["p50_us"] = latencies.percentile(.5);
  row["p90_us"] = latencies.percentile(.9);
  row["p99_us"] = latencies.percentile(.99);
  row["p999_us"] = latencies.size() >= kSamplesForP999
                       ? Json(latencies.percentile(.999))
                       : Json();
  row["mean_us"] = latencies.sum() / iterations;
  row["slow_tenth_us"] = latencies.meanOfSlowest(.1);
  row["step_mean_us"] = steps.sum() / iterations;
  row["step_slow_tenth_us"] = steps.meanOfSlowest(.1);
  row["algbw_bytes_per_s"] = algbw;
  row["busbw_bytes_per_s"] = algbw * busFactor;
  row["cpu_s_per_gb"] = measured.cpuSeconds / gigabytes;
  row["peak_resident_bytes"] = static_cast<size_t>(measured.peakResidentBytes);
  row["loss_fraction"] = measured.missingPairs / measured.expectedPairs;
  row["cut_fraction"] = measured.cutPairs / measured.expectedPairs;
  row["drift_fraction"] =
      measured.driftElements / (iterations * ranks * elements);
  row["mse"] = measured.meanSquaredError;
  row["worst_se"] = measured.worstSquaredError;
  row["verified"] = measured.verified;
  return row;
}

bool isSound(const AlgorithmSpec& spec, const Measured& measured) {
  return measured.verified && (!spec.isBounded || measured.boundedOps > 0);
}

Json progressOf(const Comparison::Progress& progress, size_t elements) {
  return {{"event", "progress"},
          {"elements", elements},
          {"elapsed_s", progress.elapsed.count()},
          {"total_s", progress.total.count()},
          {"rounds", progress.rounds},
          {"iterations", progress.iterations}};
}

Json turnOf(const Comparison::Turn& turn,
            const std::vector<Contender>& contenders) {
  return {{"event", "turn"},
          {"algorithm", contenders[turn.contender].spec.name},
          {"begins", turn.begins},
          {"iterations", turn.iterations}};
}

void emit(const Json& event) {
  std::cout << event.dump() << std::endl;
}

}  // namespace compare
}  // namespace gloo
