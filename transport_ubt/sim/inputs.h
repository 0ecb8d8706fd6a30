// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/sim/sim_options.h"

namespace ubt::sim {

// Names an op: ((context, thread), number of ops that this caller did before).
using OpKey = std::pair<std::pair<int, int>, int>;

// A hash of its argument.
uint64_t mix(uint64_t x);
// Maps the bits evenly to (0, 1].
double unit(uint64_t bits);

// The contributions of a job's callers to each op, and the right sums. They
// depend on the job's seed only, not on the order of events.
class Inputs {
 public:
  // A rank's contribution repeats after this many elements. The number is
  // prime, so that a shard in a wrong place is noticed.
  static constexpr size_t kPeriod = 8191;

  // `options` must outlive this.
  explicit Inputs(const SimOptions& options) : options_(options) {}

  OpShape shapeOf(const OpKey& key) const;

  // Writes all of a rank's contribution, shapeOf(key).bytes() bytes. The
  // elements are small integers, so that sums are exact in any order. Rough
  // inputs are fractions.
  void fill(const OpKey& key, int rank, std::byte* bucket) const;

  // Whether `got` is the right sum of these ranks' contributions to an element:
  // added by rank within each group, then over groups, rescaled, and rounded by
  // the type. For rough inputs that were added as they came, rounding may
  // differ.
  bool isSum(const OpKey& key,
             const std::vector<int>& contributors,
             size_t element,
             double got) const;
  // The exact sum of all ranks' contributions to an element.
  double exactSum(const OpKey& key, ElementType type, size_t element) const;

 private:
  double at(const OpKey& key, ElementType type, int rank, size_t element) const;

  const SimOptions& options_;
};

}  // namespace ubt::sim
