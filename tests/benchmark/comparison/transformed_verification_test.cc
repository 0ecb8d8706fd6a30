// SPDX-License-Identifier: Apache-2.0
//
// Verification of shards that were sent transformed. The expected results are
// computed here by definition, in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "benchmark/comparison/verification.h"
#include "tests/transport_ubt/kernels/scalar_hadamard.h"

namespace gloo {
namespace compare {
namespace {

constexpr int kRanks = 5;
constexpr size_t kElements = 20000;  // more than two periods
constexpr size_t kShard = 4016;      // with some elements in no block
constexpr int kAll[] = {0, 1, 2, 3, 4};

using Fill = void (Verification::*)(int, float*) const;
using Values = std::vector<double>;

constexpr Fill kExact = &Verification::fillExact;
constexpr Fill kRandom = &Verification::fillRandom;

bool has(const std::vector<RankRange>& ranges, int rank, size_t index) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
    return range.rank == rank && range.offset <= index &&
           index < range.offset + range.count;
  });
}

void transform(const Shard& shard, bool forward, Values* values) {
  const auto blocks = ubt::testing::blocksOf(
      ubt::ElementType::kFloat32, shard.count, shard.seed);
  ubt::testing::scalarHadamard(*values, blocks, forward);
}

class TransformedVerificationTest : public ::testing::Test {
 protected:
  // All ranks contribute all shards transformed, and all arrive.
  TransformedVerificationTest() {
    for (size_t at = 0; at < kElements; at += kShard) {
      const size_t count = std::min(kShard, kElements - at);
      gaps_.shards.push_back({at, count, at + 7, true});
      for (const int rank : kAll) {
        gaps_.transformed.push_back({rank, at, count});
      }
    }
  }

  // The rank contributes a shard plain, so its result is plain.
  void contributesPlain(int rank, size_t shard) {
    auto& transformed = gaps_.transformed;
    const size_t offset = gaps_.shards[shard].offset;
    transformed.erase(std::remove_if(transformed.begin(),
                                     transformed.end(),
                                     [&](const RankRange& range) {
                                       return range.rank == rank &&
                                              range.offset == offset;
                                     }),
                      transformed.end());
    gaps_.shards[shard].transformed = false;
  }

  // The result for these gaps and inputs, by docs/semantics.md.
  std::vector<float> result(Fill fill) const {
    std::vector<float> result;
    for (const auto& shard : gaps_.shards) {
      const Values values = resultOf(shard, fill);
      result.insert(result.end(), values.begin(), values.end());
    }
    return result;
  }

  bool verify(Fill fill, const std::vector<float>& result, const Gaps& gaps) {
    return fill == kExact ? verification_.verifyExact(result.data(), gaps)
                          : verification_.verifyRandom(result.data(), gaps);
  }

  // The result for the gaps is accepted, for both kinds of input.
  void expectRight() {
    for (const Fill fill : {kExact, kRandom}) {
      EXPECT_TRUE(verify(fill, result(fill), gaps_)) << (fill == kExact);
    }
  }

  // The result for the gaps is not accepted for `others`.
  void expectWrong(const Gaps& others) {
    for (const Fill fill : {kExact, kRandom}) {
      EXPECT_FALSE(verify(fill, result(fill), others)) << (fill == kExact);
    }
  }

  Verification verification_{kRanks, kElements};
  Gaps gaps_;

 private:
  Values broughtBy(int rank, const Shard& shard, Fill fill) const {
    std::vector<float> input(kElements);
    (verification_.*fill)(rank, input.data());
    Values brought(input.begin() + shard.offset,
                   input.begin() + shard.offset + shard.count);
    if (has(gaps_.transformed, rank, shard.offset)) {
      transform(shard, true, &brought);
    }
    return brought;
  }

  Values resultOf(const Shard& shard, Fill fill) const {
    Values sums[2] = {Values(shard.count), Values(shard.count)};
    std::vector<int> in[2] = {std::vector<int>(shard.count),
                              std::vector<int>(shard.count)};
    int ranks[2] = {0, 0};
    for (const int rank : kAll) {
      const Values brought = broughtBy(rank, shard, fill);
      const int form = has(gaps_.transformed, rank, shard.offset) ? 1 : 0;
      bool any = false;
      for (size_t i = 0; i < shard.count; i++) {
        if (!has(gaps_.missing, rank, shard.offset + i)) {
          sums[form][i] += brought[i];
          in[form][i]++;
          any = true;
        }
      }
      ranks[form] += any ? 1 : 0;
    }
    for (const int form : {0, 1}) {
      for (size_t i = 0; i < shard.count; i++) {
        sums[form][i] *= in[form][i] > 0 ? 1.0 * ranks[form] / in[form][i] : 0;
      }
    }
    if (!shard.transformed) {
      transform(shard, false, &sums[1]);
    }
    Values result(shard.count);
    for (size_t i = 0; i < shard.count; i++) {
      const int held = ranks[1] + (in[0][i] > 0 ? ranks[0] : 0);
      result[i] = in[0][i] + in[1][i] > 0
                      ? (sums[0][i] + sums[1][i]) * kRanks / held
                      : 0;
    }
    for (const auto& range : gaps_.zeros) {
      if (range.offset >= shard.offset &&
          range.offset < shard.offset + shard.count) {
        const auto begin = result.begin() + (range.offset - shard.offset);
        std::fill(begin, begin + range.count, 0);
      }
    }
    if (shard.transformed) {
      transform(shard, false, &result);
    }
    return result;
  }
};

TEST_F(TransformedVerificationTest, ACompleteSumIsTheSum) {
  expectRight();
  auto exact = result(kExact);
  // Integers are exact to the bit; only incomplete results may be inexact.
  exact[4321] = std::nextafter(exact[4321], 1000.0f);
  EXPECT_FALSE(verify(kExact, exact, gaps_));
  auto random = result(kRandom);
  random[4321] += 1e-3f;
  EXPECT_FALSE(verify(kRandom, random, gaps_));
}

TEST_F(TransformedVerificationTest, CoefficientsAreLeftOutAndRescaled) {
  gaps_.missing = {{1, 4100, 200}, {4, 4200, 50}, {2, 19000, 1000}};
  expectRight();
  auto others = gaps_;
  others.missing[1].rank = 3;
  expectWrong(others);  // another contributor
  others = gaps_;
  others.missing[0].count--;
  expectWrong(others);  // one coefficient more
  others = gaps_;
  others.missing.pop_back();
  expectWrong(others);
  others = gaps_;
  others.shards[1].seed++;
  expectWrong(others);
  others = gaps_;
  others.transformed.clear();
  for (auto& shard : others.shards) {
    shard.transformed = false;
  }
  expectWrong(others);  // as if those were elements
}

TEST_F(TransformedVerificationTest, AWrongScaleIsFound) {
  gaps_.missing = {{1, 0, kShard}};
  for (const Fill fill : {kExact, kRandom}) {
    auto unscaled = result(fill);
    for (size_t i = 0; i < kShard; i++) {
      unscaled[i] *= 4.0f / 5;
    }
    EXPECT_FALSE(verify(fill, unscaled, gaps_));
  }
}

TEST_F(TransformedVerificationTest, OneWrongElementIsFound) {
  gaps_.missing = {{1, 4100, 200}};
  for (const size_t at : {size_t(0), size_t(kShard), size_t(2 * kShard - 1)}) {
    auto exact = result(kExact);
    exact[at] += 0.1f;
    EXPECT_FALSE(verify(kExact, exact, gaps_)) << at;
    auto random = result(kRandom);
    random[at] += 1e-3f;
    EXPECT_FALSE(verify(kRandom, random, gaps_)) << at;
    random[at] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(verify(kRandom, random, gaps_)) << at;
  }
}

TEST_F(TransformedVerificationTest, WhereNothingCameCoefficientsAreZero) {
  for (const int rank : kAll) {
    gaps_.missing.push_back({rank, 4100, 300});
    gaps_.missing.push_back({rank, 3 * kShard, kShard});
  }
  expectRight();
}

TEST_F(TransformedVerificationTest, FormsMayDiffer) {
  contributesPlain(2, 1);
  contributesPlain(3, 1);
  contributesPlain(0, 2);
  expectRight();
  // Losses of each form, of both forms, of a whole form in one place, and of a
  // rank without any contribution.
  gaps_.missing = {{2, 4100, 100},
                   {1, 4150, 100},
                   {3, 4700, 100},
                   {2, 4700, 100},
                   {0, 2 * kShard, 500},
                   {4, kShard, kShard}};
  expectRight();
  auto others = gaps_;
  others.missing[0].rank = 3;
  expectWrong(others);
  others = gaps_;
  others.shards[1].transformed = true;
  expectWrong(others);  // then the result would have the other form
  others = gaps_;
  others.transformed.push_back({2, kShard, kShard});
  expectWrong(others);
}

TEST_F(TransformedVerificationTest, TheRemainingFormCountsAlone) {
  contributesPlain(2, 1);
  gaps_.missing = {{2, kShard, kShard}, {4, kShard, 64}};
  gaps_.shards[1].transformed = true;  // no plain contribution arrived
  expectRight();
}

TEST_F(TransformedVerificationTest, MissingResultsAreZerosInTheResultsForm) {
  contributesPlain(3, 2);
  gaps_.missing = {{1, 4100, 200}};
  gaps_.zeros = {{4200, 50}, {5000, 10}, {2 * kShard, 100}, {9000, 100}};
  expectRight();
  for (size_t i = 0; i < gaps_.zeros.size(); i++) {
    auto others = gaps_;
    others.zeros[i].count--;
    expectWrong(others);
  }
}

// Only groups report unknown sums, and groups do not transform.
TEST_F(TransformedVerificationTest, UnknownCoefficientsAreNotVerified) {
  gaps_.missing = {{1, 4100, 200}};
  auto others = gaps_;
  others.unknown = {{4100, 200}};
  expectWrong(others);
}

TEST_F(TransformedVerificationTest, NonsenseIsNotVerified) {
  gaps_.missing = {{1, 4100, 200}};
  const auto verifies = [this](const Gaps& gaps) {
    return verify(kExact, result(kExact), gaps);
  };
  for (const RankRange range : {RankRange{kRanks, 0, kShard},
                                RankRange{-1, 0, kShard},
                                RankRange{0, 0, kShard},
                                RankRange{0, 1, kShard},
                                RankRange{0, kElements, 1}}) {
    auto gaps = gaps_;
    gaps.transformed.push_back(range);
    EXPECT_FALSE(verifies(gaps)) << range.rank << " " << range.offset;
  }
  auto gaps = gaps_;
  gaps.shards.pop_back();
  EXPECT_FALSE(verifies(gaps));
  gaps = gaps_;
  gaps.shards[1].count--;
  EXPECT_FALSE(verifies(gaps));
  gaps = gaps_;
  gaps.shards.push_back({kElements, 1, 0, false});
  EXPECT_FALSE(verifies(gaps));
}

}  // namespace
}  // namespace compare
}  // namespace gloo
