// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/common/logging.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace gloo {
namespace benchmark {

// The times of iterations, in order.
using Samples = std::vector<std::chrono::nanoseconds>;

// The sorted times of iterations. T: a number or a duration.
template <typename T>
class Distribution {
 public:
  // Throws gloo::EnforceNotMet if there are no samples.
  explicit Distribution(std::vector<T> samples) : sorted_(std::move(samples)) {
    GLOO_ENFORCE(!sorted_.empty(), "No samples");
    std::sort(sorted_.begin(), sorted_.end());
  }

  size_t size() const { return sorted_.size(); }
  T min() const { return sorted_.front(); }
  T max() const { return sorted_.back(); }
  T sum() const {
    return std::accumulate(sorted_.begin(), sorted_.end(), T(0));
  }

  // The smallest sample that at least `fraction` of all samples do not exceed.
  // REQUIRES: 0 < fraction <= 1.
  T percentile(double fraction) const {
    // Slightly less, so that .9 of 10 is the 9th although .9 is not exact.
    const double rank = std::ceil(fraction * sorted_.size() - 1e-9);
    const auto index = static_cast<size_t>(std::max(rank, 1.0)) - 1;
    return sorted_[std::min(index, sorted_.size() - 1)];
  }

  // The mean of the slowest `fraction` of all samples, of one at least.
  // REQUIRES: 0 <= fraction <= 1.
  T meanOfSlowest(double fraction) const {
    const auto count =
        std::max<size_t>(1, std::lround(fraction * sorted_.size()));
    return std::accumulate(sorted_.end() - count, sorted_.end(), T(0)) / count;
  }

 private:
  std::vector<T> sorted_;
};

}  // namespace benchmark
}  // namespace gloo
