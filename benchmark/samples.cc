// SPDX-License-Identifier: Apache-2.0
#include "benchmark/samples.h"

#include <gloo/common/logging.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace gloo {
namespace benchmark {

Distribution::Distribution(Samples samples) : sorted_(std::move(samples)) {
  GLOO_ENFORCE(!sorted_.empty(), "No samples");
  std::sort(sorted_.begin(), sorted_.end());
  sum_ = std::accumulate(
      sorted_.begin(), sorted_.end(), std::chrono::nanoseconds(0));
}

std::chrono::nanoseconds Distribution::percentile(double fraction) const {
  const auto index =
      static_cast<size_t>(fraction * static_cast<double>(sorted_.size()));
  return sorted_[std::min(index, sorted_.size() - 1)];
}

}  // namespace benchmark
}  // namespace gloo
