// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "transport_ubt/sim/checker.h"
#include "transport_ubt/sim/inputs.h"

namespace ubt::sim {

// The error of the results of bounded ops, compared to exact sums of all ranks'
// contributions, over all ranks and elements. It is relative to the mean square
// of these sums: zeros in place of results give 1.
class SumError {
 public:
  // `outcomes` are by rank. REQUIRES that all ranks have returned.
  void add(const Inputs& inputs,
           const OpKey& key,
           const std::vector<Outcome>& outcomes);

  // The mean squared error.
  double mean() const {
    return errors_ == 0 ? 0 : errors_ / elements_ / unit();
  }
  // The largest squared error of any element in an op, as a mean over ops.
  double worst() const { return worst_ == 0 ? 0 : worst_ / ops_ / unit(); }

 private:
  // The mean square of exact sums.
  double unit() const { return squares_ / seen_; }

  double errors_ = 0;  // sum of squared errors
  // Complete results are exact and are skipped. For the other ops:
  double squares_ = 0;   // sum of squares of exact sums
  double seen_ = 0;      // number of elements
  double worst_ = 0;     // largest squared errors, summed over ops
  double elements_ = 0;  // elements of all ranks and ops
  double ops_ = 0;
};

}  // namespace ubt::sim
