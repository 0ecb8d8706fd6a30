// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "transport_ubt/sim/checker.h"
#include "transport_ubt/sim/inputs.h"

namespace ubt::sim {

// Measures how far replicas drift apart if each adds up the results of all
// bounded ops, as plain gradient descent does. REQUIRES ops of one size.
class ReplicaDrift {
 public:
  // `outcomes` are by rank. REQUIRES that all ranks have returned.
  void add(const Inputs& inputs,
           const OpKey& key,
           const std::vector<Outcome>& outcomes);

  // The mean square distance of replicas from their mean, over replicas and
  // elements, relative to the mean square of exact sums.
  double meanSquare() const;

 private:
  // By rank: the sum of each element.
  std::vector<std::vector<double>> replicas_;
  double squares_ = 0;  // sum of squares of exact sums
  double seen_ = 0;     // number of elements in squares_
};

}  // namespace ubt::sim
