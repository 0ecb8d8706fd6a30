// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "transport_ubt/sim/checker.h"
#include "transport_ubt/sim/inputs.h"

namespace ubt::sim {

// How far replicas have come apart that add up the results of all bounded ops,
// as a training with plain gradient descent does. REQUIRES ops of one size.
class ReplicaDrift {
 public:
  // `outcomes` by rank: all have returned.
  void add(const Inputs& inputs,
           const OpKey& key,
           const std::vector<Outcome>& outcomes);

  // The mean square, over replicas and elements, of the distance to the mean of
  // all replicas, relative to the mean square of exact sums.
  double meanSquare() const;

 private:
  std::vector<std::vector<double>> replicas_;  // by rank; each element's sum
  double squares_ = 0;                         // of exact sums
  double seen_ = 0;                            // elements of these
};

}  // namespace ubt::sim
