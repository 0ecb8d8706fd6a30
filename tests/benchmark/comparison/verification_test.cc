// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/verification.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace gloo {
namespace compare {
namespace {

constexpr int kRanks = 5;
constexpr size_t kElements = 20000;  // more than two periods

class VerificationTest : public ::testing::Test {
 protected:
  using Fill = void (Verification::*)(int, float*) const;

  // The sum of the ranks with `contributes`, rescaled.
  std::vector<float> sum(Fill fill,
                         const std::function<bool(int, size_t)>& contributes) {
    std::vector<double> total(kElements);
    std::vector<int> contributors(kElements);
    std::vector<float> input(kElements);
    for (int rank = 0; rank < kRanks; rank++) {
      (verification_.*fill)(rank, input.data());
      for (size_t i = 0; i < kElements; i++) {
        if (contributes(rank, i)) {
          total[i] += input[i];
          contributors[i]++;
        }
      }
    }
    std::vector<float> result(kElements);
    for (size_t i = 0; i < kElements; i++) {
      result[i] = contributors[i] ? total[i] * kRanks / contributors[i] : 0;
    }
    return result;
  }

  std::vector<float> completeSum(Fill fill) {
    return sum(fill, [](int, size_t) { return true; });
  }

  static Gaps without(std::vector<RankRange> missing) {
    return {std::move(missing)};
  }

  Verification verification_{kRanks, kElements};
};

TEST_F(VerificationTest, measuresHowFarAResultIsOff) {
  auto result = completeSum(&Verification::fillExact);
  double sumSquares = 0;
  for (const double sum : result) {
    sumSquares += sum * sum;
  }
  auto error = verification_.errorOfExact(result.data());
  EXPECT_EQ(error.squares, 0);
  EXPECT_EQ(error.worst, 0);
  EXPECT_DOUBLE_EQ(error.sumSquares, sumSquares);
  result[3] += 2;
  result[kElements - 1] -= 5;
  error = verification_.errorOfExact(result.data());
  EXPECT_EQ(error.squares, 4 + 25);
  EXPECT_EQ(error.worst, 25);
  const std::vector<float> zeros(kElements);
  EXPECT_DOUBLE_EQ(verification_.errorOfExact(zeros.data()).squares,
                   sumSquares);
}

TEST_F(VerificationTest, acceptsTheSum) {
  const auto exact = completeSum(&Verification::fillExact);
  const auto random = completeSum(&Verification::fillRandom);
  EXPECT_TRUE(verification_.verifyExact(exact.data(), {}));
  EXPECT_TRUE(verification_.verifyRandom(random.data(), {}));
}

TEST_F(VerificationTest, exactMeansEveryBit) {
  for (const size_t at : {size_t(0), size_t(8191), kElements - 1}) {
    auto result = completeSum(&Verification::fillExact);
    result[at] = std::nextafter(result[at], 1000.0f);
    EXPECT_FALSE(verification_.verifyExact(result.data(), {})) << at;
  }
}

TEST_F(VerificationTest, onlyRoundingIsTolerated) {
  auto result = completeSum(&Verification::fillRandom);
  result[7] = std::nextafter(result[7], 1000.0f);
  EXPECT_TRUE(verification_.verifyRandom(result.data(), {}));
  result[7] += 1e-4f;
  EXPECT_FALSE(verification_.verifyRandom(result.data(), {}));
}

TEST_F(VerificationTest, nanIsNeverRight) {
  auto result = completeSum(&Verification::fillRandom);
  result[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(verification_.verifyRandom(result.data(), {}));
}

TEST_F(VerificationTest, shiftedOrForgottenPartsAreNoticed) {
  auto shifted = completeSum(&Verification::fillExact);
  std::rotate(shifted.begin(), shifted.begin() + 4096, shifted.end());
  EXPECT_FALSE(verification_.verifyExact(shifted.data(), {}));
  const auto incomplete =
      sum(&Verification::fillExact, [](int rank, size_t) { return rank != 3; });
  EXPECT_FALSE(verification_.verifyExact(incomplete.data(), {}));
}

TEST_F(VerificationTest, missingContributorsAreLeftOutAndRescaled) {
  const auto contributes = [](int rank, size_t i) {
    return !(rank == 1 && i >= 100 && i < 300) &&
           !(rank == 4 && i >= 200 && i < 250) && !(rank == 2 && i >= 19990);
  };
  const auto gaps =
      without({{4, 200, 50}, {1, 100, 100}, {1, 200, 100}, {2, 19990, 10}});
  for (const auto fill :
       {&Verification::fillExact, &Verification::fillRandom}) {
    const auto result = sum(fill, contributes);
    const bool exact = fill == &Verification::fillExact;
    const auto verify = [&](const Gaps& claimed) {
      return exact ? verification_.verifyExact(result.data(), claimed)
                   : verification_.verifyRandom(result.data(), claimed);
    };
    EXPECT_TRUE(verify(gaps));
    EXPECT_FALSE(verify({}));
    EXPECT_FALSE(verify(without({{1, 100, 200}})));
  }
}

TEST_F(VerificationTest, withoutAnyContributorTheResultIsZero) {
  const auto result =
      sum(&Verification::fillExact, [](int, size_t i) { return i >= 10; });
  std::vector<RankRange> all;
  all.reserve(kRanks);
  for (int rank = 0; rank < kRanks; rank++) {
    all.push_back({rank, 0, 10});
  }
  EXPECT_TRUE(verification_.verifyExact(result.data(), without(all)));
}

// Contributions that the owner left out do not matter if its result never came.
TEST_F(VerificationTest, missingResultsAreZeros) {
  auto result = completeSum(&Verification::fillExact);
  std::fill_n(result.begin() + 50, 10, 0);
  std::fill_n(result.begin() + 150, 10, 0);
  const Gaps gaps = {{{1, 55, 5}}, {{50, 10}, {150, 10}}};
  EXPECT_TRUE(verification_.verifyExact(result.data(), gaps));
  EXPECT_FALSE(verification_.verifyExact(result.data(),
                                         {gaps.missing, {{50, 10}, {151, 9}}}));
  EXPECT_FALSE(verification_.verifyExact(result.data(), {}));
  result[50] = 1e-6f;
  EXPECT_FALSE(verification_.verifyExact(result.data(), gaps));
}

// Groups that lack others' sums report that, but not which sums.
TEST_F(VerificationTest, unknownElementsAreNotChecked) {
  auto result = completeSum(&Verification::fillExact);
  for (size_t i = 50; i < 60; i++) {
    result[i] = -1;
  }
  EXPECT_TRUE(
      verification_.verifyExact(result.data(), {{{1, 55, 5}}, {}, {{50, 10}}}));
  EXPECT_FALSE(verification_.verifyExact(result.data(), {{}, {}, {{51, 9}}}));
  EXPECT_FALSE(
      verification_.verifyExact(result.data(), {{}, {{55, 1}}, {{50, 10}}}));
}

TEST_F(VerificationTest, nonsenseReportsAreNotVerified) {
  const auto result = completeSum(&Verification::fillExact);
  for (const RankRange range :
       {RankRange{kRanks, 0, 1},
        RankRange{-1, 0, 1},
        RankRange{0, kElements, 1},
        RankRange{0, 5, 0},
        RankRange{0, 1, std::numeric_limits<size_t>::max()}}) {
    EXPECT_FALSE(verification_.verifyExact(result.data(), without({range})));
  }
  EXPECT_FALSE(verification_.verifyExact(result.data(),
                                         without({{0, 0, 10}, {0, 5, 10}})));
  const std::vector<float> zeros(kElements);
  for (const std::vector<Range>& ranges : std::vector<std::vector<Range>>{
           {{kElements, 1}}, {{0, kElements + 1}}, {{0, kElements}, {5, 1}}}) {
    EXPECT_FALSE(verification_.verifyExact(zeros.data(), {{}, ranges}));
    EXPECT_FALSE(verification_.verifyExact(zeros.data(), {{}, {}, ranges}));
  }
  EXPECT_TRUE(verification_.verifyExact(zeros.data(), {{}, {{0, kElements}}}));
}

}  // namespace
}  // namespace compare
}  // namespace gloo
