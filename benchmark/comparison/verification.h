// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "benchmark/comparison/allreduce_under_test.h"
#include "benchmark/comparison/gap_walk.h"

namespace gloo {
namespace compare {

// Inputs whose sum every rank can work out alone, and the check against it.
//
// * Exact: small integers. No order of additions rounds, so a complete sum has
//   to be right in every bit. Cheap enough to check between measurements.
// * Random: values in [-1, 1). A result may be off by n * eps * sum|x|.
//
// Where there are gaps, the result is compared with what should be there
// instead, with the same tolerance for either kind of input; of shards that
// travelled transformed, with a larger one (TransformedShard).
class Verification {
 public:
  // Takes 12 bytes an element, once verifyRandom() is called.
  Verification(int ranks, size_t elements);

  void fillExact(int rank, float* data) const;
  void fillRandom(int rank, float* data) const;

  bool verifyExact(const float* data, const Gaps& gaps) const;

  // How far a result is off the sum of all ranks' exact inputs.
  struct Error {
    double squares = 0;     // of errors, summed over elements
    double sumSquares = 0;  // of the exact sums, likewise
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
