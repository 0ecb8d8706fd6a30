// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "benchmark/comparison/allreduce_under_test.h"
#include "transport_ubt/sim/shard_sum.h"

namespace gloo {
namespace compare {

// Elements that are verified at once: a shard with transformed data, or some
// plain elements.
struct Part {
  enum class Result { kSum, kZero, kUnknown };

  size_t offset = 0;
  size_t count = 0;
  uint64_t seed = 0;                  // of the shard's transform
  bool transformed = false;           // the received result
  std::vector<bool> sentTransformed;  // by rank
  std::vector<ubt::sim::Run> runs;    // relative to `offset`
  std::vector<Result> results;        // of each run

  bool isPlain() const;
};

// All elements as parts, in order. Empty if the gaps are inconsistent: ranges
// overlap, or do not fit the elements, ranks or shards.
std::optional<std::vector<Part>> partsOf(const Gaps& gaps,
                                         int ranks,
                                         size_t elements);

}  // namespace compare
}  // namespace gloo
