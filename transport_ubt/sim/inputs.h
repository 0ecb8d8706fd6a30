// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/sim/sim_options.h"

namespace ubt::sim {

// Names an op: ((context, thread), how many that caller did before).
using OpKey = std::pair<std::pair<int, int>, int>;

// A well-spread function of its argument.
uint64_t mix(uint64_t x);

// What the callers of a job bring to each op, and what its sums have to be. A
// function of the job's seed, whatever happens when.
class Inputs {
 public:
  // After so many elements a rank's contribution repeats. Prime, so that a
  // shard in a wrong place does not go unnoticed.
  static constexpr size_t kPeriod = 8191;

  // `options` must outlive this.
  explicit Inputs(const SimOptions& options) : options_(options) {}

  OpShape shapeOf(const OpKey& key) const;

  // Writes all that a rank contributes: shapeOf(key).bytes(). Small integers,
  // so that sums are exact in any order, or, of rough inputs, fractions.
  void fill(const OpKey& key, int rank, std::byte* bucket) const;

  // Whether `got` is the sum of some ranks' contributions to an element, added
  // by rank, in each group apart, and rescaled, as the type rounds it. Of rough
  // inputs that were added as they came, rounding may differ.
  bool isSum(const OpKey& key,
             const std::vector<int>& contributors,
             size_t element,
             double got) const;
  // What all ranks' contributions to an element come to, exactly.
  double exactSum(const OpKey& key, ElementType type, size_t element) const;
  // What fills an element that a rank never received.
  double fillOf(const OpKey& key, int rank, size_t element) const;

 private:
  double at(const OpKey& key, ElementType type, int rank, size_t element) const;

  const SimOptions& options_;
};

}  // namespace ubt::sim
