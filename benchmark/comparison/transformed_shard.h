// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "benchmark/comparison/gap_walk.h"

namespace gloo {
namespace compare {

// A shard to which some ranks contributed coefficients of its Hadamard
// transform, and what has to come of it: worked out again from the inputs, with
// the kernel's own transform, whoever is missing where and in whichever form.
//
// * All transformed: each coefficient is the sum of those contributed, times
//   ranks / contributors; zero where there are none. The result is what those
//   coefficients turn back to.
// * Both forms: the coefficients are summed apart, each times transformed ranks
//   / its contributors, and turned back; to that is added the sum of the plain
//   contributions, each times plain ranks / its contributors. The whole is
//   scaled from the ranks it holds to all. Ranks of which nothing came do not
//   count; where no element or coefficient came, the result is zero.
// * Filled: ranks times the filler's own contribution, if that is of the
//   result's form, else zero.
//
// Rounding errors of a block's 64 elements may meet in one. So a result may be
// off by (ranks + 12) * eps * ranks * 8 * the largest input: the last three are
// more than the norm of a block, whose signs no loss depends on. A coefficient
// that is wrong shows in 64 elements, at an eighth of what it is off by.
class TransformedShard {
 public:
  // `transformedBy`: by rank, whether it contributed so.
  TransformedShard(const Shard& shard, std::vector<bool> transformedBy)
      : shard_(shard), transformedBy_(std::move(transformedBy)) {}

  size_t begin() const { return shard_.offset; }
  size_t end() const { return shard_.offset + shard_.count; }

  // Whether the shard's part of a result is right. Moves the walk over it;
  // REQUIRES walk->at() == begin().
  bool verify(const float* data, Input input, GapWalk* walk) const;

 private:
  using Values = std::vector<double>;

  // What came of one form.
  struct Sum {
    explicit Sum(size_t runs, size_t elements) : values(elements), in(runs) {}
    Values values;
    std::vector<int> in;  // contributors, by run
    int ranks = 0;        // of which anything came
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

// In order, the shards to which any rank contributed transformed, or that came
// so. None if what the gaps say of shards and forms makes no sense.
std::optional<std::vector<TransformedShard>> transformedShards(const Gaps& gaps,
                                                               int ranks,
                                                               size_t elements);

}  // namespace compare
}  // namespace gloo
