// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/replica_drift.h"

#include <algorithm>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/sim/narrow_float.h"

namespace ubt::sim {

void ReplicaDrift::add(const Inputs& inputs,
                       const OpKey& key,
                       const std::vector<Outcome>& outcomes) {
  const OpShape shape = inputs.shapeOf(key);
  const size_t elementBytes = elementSize(shape.type);
  UBT_REQUIRE(replicas_.empty() || replicas_[0].size() == shape.elements);
  replicas_.resize(outcomes.size(), std::vector<double>(shape.elements));
  for (size_t i = 0; i < shape.elements; i++) {
    for (size_t rank = 0; rank < outcomes.size(); rank++) {
      replicas_[rank][i] += loadElement(
          shape.type, outcomes[rank].result.data() + i * elementBytes);
    }
  }
  for (size_t i = 0; i < std::min<size_t>(shape.elements, Inputs::kPeriod);
       i++) {
    const double exact = inputs.exactSum(key, shape.type, i);
    squares_ += exact * exact;
    seen_++;
  }
}

double ReplicaDrift::meanSquare() const {
  if (seen_ == 0) {
    return 0;
  }
  double distances = 0;
  const size_t elements = replicas_[0].size();
  const auto ranks = static_cast<double>(replicas_.size());
  for (size_t i = 0; i < elements; i++) {
    double mean = 0;
    for (const auto& replica : replicas_) {
      mean += replica[i] / ranks;
    }
    for (const auto& replica : replicas_) {
      distances += (replica[i] - mean) * (replica[i] - mean);
    }
  }
  return distances / ranks / static_cast<double>(elements) / (squares_ / seen_);
}

}  // namespace ubt::sim
