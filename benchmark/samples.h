// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace gloo {
namespace benchmark {

// The times of iterations, in order.
using Samples = std::vector<std::chrono::nanoseconds>;

// The sorted times. Throws gloo::EnforceNotMet if there are none.
class Distribution {
 public:
  explicit Distribution(Samples samples);

  size_t size() const { return sorted_.size(); }
  std::chrono::nanoseconds min() const { return sorted_.front(); }
  std::chrono::nanoseconds max() const { return sorted_.back(); }
  std::chrono::nanoseconds sum() const { return sum_; }

  // The sample above `fraction` (0 to 1) of all samples.
  std::chrono::nanoseconds percentile(double fraction) const;

 private:
  Samples sorted_;
  std::chrono::nanoseconds sum_{0};
};

}  // namespace benchmark
}  // namespace gloo
