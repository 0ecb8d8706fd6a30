// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/sum_error.h"

#include <algorithm>

#include "transport_ubt/sim/narrow_float.h"

namespace ubt::sim {
namespace {

bool isComplete(const Outcome& outcome) {
  return outcome.report.pairsMissing == 0 && outcome.report.driftElements == 0;
}

}  // namespace

void SumError::add(const Inputs& inputs,
                   const OpKey& key,
                   const std::vector<Outcome>& outcomes) {
  const OpShape shape = inputs.shapeOf(key);
  const auto elements = static_cast<double>(shape.elements * outcomes.size());
  elements_ += elements;
  ops_++;
  if (std::all_of(outcomes.begin(), outcomes.end(), &isComplete)) {
    return;
  }
  seen_ += elements;
  const size_t elementBytes = elementSize(shape.type);
  std::vector<double> sums;
  for (size_t i = 0; i < std::min<size_t>(shape.elements, Inputs::kPeriod);
       i++) {
    sums.push_back(inputs.exactSum(key, shape.type, i));
  }
  double worst = 0;
  for (size_t i = 0; i < shape.elements; i++) {
    const double exact = sums[i % Inputs::kPeriod];
    squares_ += exact * exact * static_cast<double>(outcomes.size());
    for (const Outcome& outcome : outcomes) {
      const double off =
          loadElement(shape.type, outcome.result.data() + i * elementBytes) -
          exact;
      errors_ += off * off;
      worst = std::max(worst, off * off);
    }
  }
  worst_ += worst;
}

}  // namespace ubt::sim
