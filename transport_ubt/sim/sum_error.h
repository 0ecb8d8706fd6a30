// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "transport_ubt/sim/checker.h"
#include "transport_ubt/sim/inputs.h"

namespace ubt::sim {

// How far the results of bounded ops are off the exact sums of all ranks'
// contributions, over all ranks and elements. Relative to the mean square of
// those sums: zeros in place of results are 1 off.
class SumError {
 public:
  // `outcomes` by rank: all have returned.
  void add(const Inputs& inputs,
           const OpKey& key,
           const std::vector<Outcome>& outcomes);

  // The mean squared error.
  double mean() const {
    return errors_ == 0 ? 0 : errors_ / elements_ / unit();
  }
  // The squared error of the element that is most off in an op, on average.
  double worst() const { return worst_ == 0 ? 0 : worst_ / ops_ / unit(); }

 private:
  // The mean square of exact sums.
  double unit() const { return squares_ / seen_; }

  double errors_ = 0;  // squared
  // Results that lack nothing are exact, and not looked at. Of the others:
  double squares_ = 0;   // of exact sums
  double seen_ = 0;      // elements
  double worst_ = 0;     // squared error of each op, summed over ops
  double elements_ = 0;  // of all ranks and ops
  double ops_ = 0;
};

}  // namespace ubt::sim
