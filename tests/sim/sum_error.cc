// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/sum_error.h"

#include <algorithm>

#include "tests/sim/narrow_float.h"

namespace ubt::sim {

void SumError::add(const Inputs& inputs,
                   const OpKey& key,
                   const std::vector<Outcome>& outcomes) {
  const OpShape shape = inputs.shapeOf(key);
  const size_t elementBytes = elementSize(shape.type);
  double worst = 0;
  for (size_t i = 0; i < shape.elements; i++) {
    const double exact = inputs.exactSum(key, shape.type, i);
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
  elements_ += static_cast<double>(shape.elements * outcomes.size());
  ops_++;
}

}  // namespace ubt::sim
