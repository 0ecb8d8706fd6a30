// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "transport_ubt/core/base/require.h"

namespace gloo {
namespace compare {

namespace {

// With fewer samples, p99.9 would be the maximum.
constexpr size_t kSamplesForP999 = 1000;

}  // namespace

double percentile(const std::vector<double>& sorted, double fraction) {
  UBT_REQUIRE(!sorted.empty() && fraction > 0 && fraction <= 1);
  // Slightly less, so that .9 of 10 is the 9th although .9 is not exact.
  const double rank = std::ceil(fraction * sorted.size() - 1e-9);
  const size_t index = static_cast<size_t>(std::max(rank, 1.0)) - 1;
  return sorted[std::min(index, sorted.size() - 1)];
}

Latencies summarise(std::vector<double> samples) {
  UBT_REQUIRE(!samples.empty());
  std::sort(samples.begin(), samples.end());
  Latencies latencies = {};
  latencies.p50 = percentile(samples, .5);
  latencies.p90 = percentile(samples, .9);
  latencies.p99 = percentile(samples, .99);
  if (samples.size() >= kSamplesForP999) {
    latencies.p999 = percentile(samples, .999);
  }
  latencies.mean =
      std::accumulate(samples.begin(), samples.end(), 0.0) / samples.size();
  return latencies;
}

}  // namespace compare
}  // namespace gloo
