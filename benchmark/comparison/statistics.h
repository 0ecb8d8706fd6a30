// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

namespace gloo {
namespace compare {

// Latencies of one algorithm's iterations, in microseconds.
struct Latencies {
  double p50;
  double p90;
  double p99;
  std::optional<double> p999;  // only with at least 1,000 samples
  double mean;
};

// The smallest sample that at least `fraction` of all samples do not exceed.
// REQUIRES: sorted, not empty; 0 < fraction <= 1.
double percentile(const std::vector<double>& sorted, double fraction);

// REQUIRES: not empty.
Latencies summarise(std::vector<double> samples);

}  // namespace compare
}  // namespace gloo
