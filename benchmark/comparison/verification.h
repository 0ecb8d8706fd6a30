// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "benchmark/comparison/allreduce_under_test.h"
#include "benchmark/comparison/gap_walk.h"

namespace gloo {
namespace compare {

// Inputs with a sum that each rank can compute alone, and the check against it.
//
// * Exact: small integers. No order of additions rounds, so a complete sum must
//   be right in every bit. Cheap enough to check between measurements.
// * Random: values in [-1, 1). A result may be off by n * eps * sum|x|.
//
// Where there are gaps, the result is compared with the value expected for the
// gap. The tolerance is the same for both kinds of input, but larger for shards
// that were sent transformed (TransformedShard).
class Verification {
 public:
  // Uses 12 bytes an element after the first verifyRandom().
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

  bool verifyRandom(const float* data, const Gaps& gaps);

 private:
  struct Sum {
    double value;
    double magnitude;  // sum|x|
  };

  bool verifyIncomplete(const float* data, const Gaps& gaps, Input input) const;
  bool verifyPlain(const float* data,
                   size_t end,
                   Input input,
                   GapWalk* walk) const;
  Sum completeSum(Input input, size_t index) const;
  bool isClose(float result, Sum expected) const;

  const int ranks_;
  const size_t elements_;
  std::vector<float> exactInputSums_;  // repeats every kPeriod elements
  std::vector<double> randomSums_;
  std::vector<float> randomMagnitudes_;
};

}  // namespace compare
}  // namespace gloo
