// SPDX-License-Identifier: Apache-2.0
#include "benchmark/mismatches.h"

#include <fmt/format.h>

namespace gloo {
namespace benchmark {

void Mismatches::add(size_t index, double got, double expected) {
  count_++;
  if (keepAll_ || texts_.size() < kShown) {
    texts_.push_back(
        fmt::format("Rank: {} Mismatch at index: {}: got {}, expected {}",
                    rank_,
                    index,
                    got,
                    expected));
  }
}

}  // namespace benchmark
}  // namespace gloo
