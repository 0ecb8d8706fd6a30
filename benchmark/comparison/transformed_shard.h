// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "benchmark/comparison/gap_walk.h"

namespace gloo {
namespace compare {

// A shard with contributions that are coefficients of its Hadamard transform,
// and its expected result. The expected result is computed from the inputs with
// the kernel's own transform, for any missing contributions and any forms.
//
// * All transformed: each coefficient is the sum of the contributions, times
//   ranks / contributors; zero without contributors. The result is the inverse
//   transform of these coefficients.
// * Both forms: the coefficients are summed separately, each times transformed
//   ranks / its contributors, and transformed back. The sum of the plain
//   contributions, each times plain ranks / its contributors, is added. The
//   total is scaled from the ranks it contains to all ranks. Ranks that
//   contributed nothing do not count. Where no element or coefficient
//   arrived, the result is zero.
// * Filled: ranks times the filler's own contribution, if that has the
//   result's form, else zero.
//
// Rounding errors of a block's 64 elements may add up in one element. So a
// result may be off by (ranks + 12) * eps * ranks * 8 * the largest input. The
// last three factors exceed the norm of a block; its signs do not depend on
// losses. A wrong coefficient changes 64 elements, each by an eighth of its
// error.
class TransformedShard {
 public:
  // `transformedBy`: for each rank, whether it contributed transformed.
  TransformedShard(const Shard& shard, std::vector<bool> transformedBy)
      : shard_(shard), transformedBy_(std::move(transformedBy)) {}

  size_t begin() const { return shard_.offset; }
  size_t end() const { return shard_.offset + shard_.count; }

  // Whether the shard's part of a result is right. Moves the walk over the
  // shard. REQUIRES walk->at() == begin().
  bool verify(const float* data, Input input, GapWalk* walk) const;

 private:
  using Values = std::vector<double>;

  // The contributions of one form.
  struct Sum {
    explicit Sum(size_t runs, size_t elements) : values(elements), in(runs) {}
    Values values;
    std::vector<int> in;  // contributors, by run
    int ranks = 0;        // that contributed to any run
  };

  Values broughtBy(int rank, Input input, double* largest) const;
  void add(int rank,
           const Values& brought,
           const std::vector<GapRun>& runs,
           Sum* sum) const;
  void turnBack(Values* values) const;
  void rescale(const std::vector<GapRun>& runs, Sum* sum) const;
  Values result(const std::vector<GapRun>& runs,
                Sum* plain,
                Sum* transformed) const;

  // A run's place in the shard.
  size_t begin(const GapRun& run) const { return run.begin - shard_.offset; }
  size_t end(const GapRun& run) const { return run.end - shard_.offset; }

  const Shard shard_;
  const std::vector<bool> transformedBy_;
};

// In order, the shards with a transformed contribution or a transformed result.
// Empty if the gaps' shards and forms are inconsistent.
std::optional<std::vector<TransformedShard>> transformedShards(const Gaps& gaps,
                                                               int ranks,
                                                               size_t elements);

}  // namespace compare
}  // namespace gloo
