// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "benchmark/comparison/allreduce_under_test.h"
#include "benchmark/comparison/part.h"

namespace gloo {
namespace compare {

// Inputs with a sum that each rank can compute alone, and the check against it.
//
// * Exact: small integers. No order of additions rounds, so a complete sum must
//   be right in every bit. Cheap enough to check between measurements.
// * Random: values in [-1, 1).
//
// Where there are gaps, the result is compared with the simulator's oracle
// (transport_ubt/sim/shard_sum.h). A plain result may be off by n * eps * n *
// the largest input. In a transformed shard, one element may collect the
// rounding errors of its block of 64. The tolerance there is (n + 12) * eps * n
// * 8 * the largest input. The last three factors exceed the norm of a block. A
// wrong coefficient changes 64 elements, each by an eighth of its error.
class Verification {
 public:
  Verification(int ranks, size_t elements);

  void fillExact(int rank, float* data) const;
  void fillRandom(int rank, float* data) const;

  bool verifyExact(const float* data, const Gaps& gaps) const;

  // The difference between a result and the sum of all ranks' exact inputs.
  struct Error {
    double squares = 0;     // of errors, summed over elements
    double sumSquares = 0;  // of exact sums, summed over elements
    double worst = 0;       // the largest squared error
  };
  Error errorOfExact(const float* data) const;

  bool verifyRandom(const float* data, const Gaps& gaps) const;

 private:
  struct Input {
    float (*at)(int rank, size_t index);
    float largest;
  };
  static const Input kExact;
  static const Input kRandom;

  bool verify(const float* data, const Gaps& gaps, const Input& input) const;
  bool verify(const float* data, const Part& part, const Input& input) const;

  const int ranks_;
  const size_t elements_;
  std::vector<float> exactSums_;  // repeats every kPeriod elements
};

}  // namespace compare
}  // namespace gloo
