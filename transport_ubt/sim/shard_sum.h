// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace ubt::sim {

// Elements [begin, end) of a shard, to which the same ranks contributed.
struct Run {
  size_t begin;
  size_t end;
  std::vector<bool> in;  // by rank: whether the owner has its contribution
};

// The right result of one shard, in double precision.
//
// * Contributions of one form: each element (or coefficient) is the sum of the
//   contributions, times ranks / contributors; zero without contributors.
// * Of both forms: each form's sum is scaled from its contributors in the run
//   to all of its ranks that contributed to any run. The transformed sum is
//   transformed back and added to the plain one. The total is scaled from the
//   ranks that it contains to all ranks; it is zero where nothing arrived.
struct ShardSum {
  using Values = std::vector<double>;

  // `runs` cover the shard in order. `sentTransformed`: by rank.
  // `contribution` returns a rank's whole shard, in the form that it sent.
  // It is called for contributors only. `inverse` transforms back.
  ShardSum(const std::vector<Run>& runs,
           const std::vector<bool>& sentTransformed,
           const std::function<Values(int rank)>& contribution,
           const std::function<void(Values*)>& inverse);

  bool anyIn = false;        // whether any rank contributed
  bool transformed = false;  // whether the values are coefficients
  Values values;
  double magnitude = 0;  // sum of |contributions| over ranks and elements
};

}  // namespace ubt::sim
