// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/types.h>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace gloo {
namespace benchmark {

// The largest n such that T represents all whole numbers up to n.
template <typename T>
constexpr double exactMax() {
  return static_cast<double>(1ULL << std::numeric_limits<T>::digits);
}

template <>
constexpr double exactMax<float16>() {
  return 2048;
}

// The values of all ranks' buffers. They are whole numbers, and each value
// identifies its buffer and its index (modulo a period). The sum over any of
// the buffers is a whole number that the type represents, so results can be
// compared for equality in any order of summation. If there are too many
// buffers for that, sums are compared up to rounding.
class Pattern {
 public:
  // `buffers`: of all ranks together. `exactMax`: see above.
  Pattern(size_t buffers, double exactMax)
      : buffers_(static_cast<double>(buffers)) {
    const double room = exactMax - offset();
    period_ = static_cast<size_t>(std::max(1.0, room / (buffers_ * buffers_)));
    tolerance_ = room < 0 ? 2 * buffers_ / exactMax : 0;
  }

  // Element `index` of buffer number `buffer`.
  double value(size_t buffer, size_t index) const {
    return step(index) * buffers_ + static_cast<double>(buffer);
  }

  // The sum of element `index` over all buffers.
  double sum(size_t index) const {
    return step(index) * buffers_ * buffers_ + offset();
  }

  // The allowed relative error of a sum; 0 if sums are exact.
  double tolerance() const { return tolerance_; }

 private:
  double step(size_t index) const {
    return static_cast<double>(index % period_);
  }
  double offset() const { return buffers_ * (buffers_ - 1) / 2; }

  const double buffers_;
  size_t period_;
  double tolerance_;
};

}  // namespace benchmark
}  // namespace gloo
