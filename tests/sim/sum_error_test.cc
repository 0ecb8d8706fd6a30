// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/sum_error.h"

#include <gtest/gtest.h>

#include "tests/sim/run_checked.h"

namespace ubt::sim {
namespace {

constexpr OpKey kOp{{0, 0}, 0};

SimOptions threeElements() {
  SimOptions options;
  options.ranks = 2;
  options.oneShape = true;
  options.elementsMax = 3;
  return options;
}

// The outcomes at both ranks if results are off by `off`, by rank and element.
std::vector<Outcome> outcomes(const Inputs& inputs,
                              const std::vector<std::vector<float>>& off) {
  std::vector<Outcome> all(off.size());
  for (size_t rank = 0; rank < off.size(); rank++) {
    all[rank].report.pairsMissing = 1;
    for (size_t i = 0; i < off[rank].size(); i++) {
      const auto value = static_cast<float>(
          inputs.exactSum(kOp, ElementType::kFloat32, i) + off[rank][i]);
      const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
      all[rank].result.insert(
          all[rank].result.end(), bytes, bytes + sizeof(value));
    }
  }
  return all;
}

double meanSquareOfSums(const Inputs& inputs) {
  double squares = 0;
  for (size_t i = 0; i < 3; i++) {
    const double sum = inputs.exactSum(kOp, ElementType::kFloat32, i);
    squares += sum * sum / 3;
  }
  return squares;
}

TEST(SumError, OfExactResultsIsZero) {
  const SimOptions options = threeElements();
  const Inputs inputs(options);
  SumError error;
  EXPECT_EQ(error.mean(), 0);
  error.add(inputs, kOp, outcomes(inputs, {{0, 0, 0}, {0, 0, 0}}));
  EXPECT_EQ(error.mean(), 0);
  EXPECT_EQ(error.worst(), 0);
}

TEST(SumError, IsAMeanOverRanksAndElementsAndAWorstOfEachOp) {
  const SimOptions options = threeElements();
  const Inputs inputs(options);
  SumError error;
  error.add(inputs, kOp, outcomes(inputs, {{1, 0, 2}, {0, 0, -4}}));
  error.add(inputs, kOp, outcomes(inputs, {{0, 0, 0}, {2, 0, 0}}));
  const double unit = meanSquareOfSums(inputs);
  ASSERT_GT(unit, 0);
  EXPECT_DOUBLE_EQ(error.mean(), (1 + 4 + 16 + 4) / 12.0 / unit);
  EXPECT_DOUBLE_EQ(error.worst(), (16 + 4) / 2.0 / unit);
}

// Missing results are zeros, and sums without some contributions are rescaled.
// If contributions are independent, a sum of k of n has a relative squared
// error of (n - k) / k.
TEST(SumError, OfARunFollowsFromTheMissingData) {
  SimOptions options;
  options.ranks = 8;
  options.oneShape = true;
  options.elementsMax = 20000;
  options.measureError = true;
  options.ops = 40;
  EXPECT_EQ(runChecked(options).error.mean(), 0);
  options.loss = 0.05;
  options.protocol.repair = RepairPolicy::kNone;
  const SimResult lossy = runChecked(options);
  const double share =
      static_cast<double>(lossy.pairsMissing) /
      (static_cast<double>(lossy.boundedOps) * 8 * options.elementsMax);
  EXPECT_GT(lossy.error.mean(), share);
  EXPECT_LT(lossy.error.mean(), 1.5 * share);
  EXPECT_GT(lossy.error.worst(), 1);
}

// No rank waits for the late one, and its own time does not count.
TEST(OpTimes, LeaveOutTheLateRank) {
  SimOptions options;
  options.ranks = 4;
  options.oneShape = true;
  options.elementsMax = 20000;
  options.ops = 60;
  options.lateOps = 0.3;
  options.lateRank = 2;
  options.lateBy = std::chrono::milliseconds(300);
  const SimResult result = runChecked(options);
  ASSERT_FALSE(result.opTimes.empty());
  EXPECT_GT(result.pairsMissing, 0u);
  EXPECT_LT(result.opTimes.back(), options.lateBy);
}

}  // namespace
}  // namespace ubt::sim
