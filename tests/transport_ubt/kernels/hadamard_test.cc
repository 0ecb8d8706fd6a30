// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/kernels/hadamard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "tests/transport_ubt/kernels/element_buffer.h"
#include "tests/transport_ubt/kernels/scalar_hadamard.h"
#include "transport_ubt/kernels/reduction_kernels.h"

namespace ubt {
namespace testing {
namespace {

constexpr uint64_t kSeed = 0x5eed;

// The unit roundoff of arithmetic and of storing.
struct Roundoff {
  double arithmetic;
  double stored;
};

Roundoff roundoffOf(ElementType type) {
  switch (type) {
    case ElementType::kFloat64:
      return {0x1p-53, 0};
    case ElementType::kFloat16:
      return {0x1p-24, 0x1p-11};
    case ElementType::kBfloat16:
      return {0x1p-24, 0x1p-8};
    case ElementType::kFloat32:
      break;
  }
  return {0x1p-24, 0};
}

// The relative error of one direction. Each of six levels keeps the norm
// (except for an exact factor) and rounds every element once. Includes some
// room for products of roundoffs.
double errorOf(ElementType type) {
  const auto roundoff = roundoffOf(type);
  return 1.01 * (6 * roundoff.arithmetic + roundoff.stored);
}

double norm(const Values& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value * value;
  }
  return std::sqrt(sum);
}

Values difference(const Values& a, const Values& b) {
  Values result;
  for (size_t k = 0; k < a.size(); k++) {
    result[k] = a[k] - b[k];
  }
  return result;
}

// Values without extremes: norms must not overflow, and values must not be
// subnormal.
Buffer ordinaryShard(ElementType type, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Buffer shard(count * elementSize(type), 0);
  for (size_t i = 0; i < count; i++) {
    setAs(type, shard, i, normal(random));
  }
  return shard;
}

constexpr size_t kCount = 64 * 530 + 21;

TEST(Hadamard, isTheDefinedTransformAndKeepsTheEnergy) {
  for (const auto type : kAllTypes) {
    auto shard = ordinaryShard(type, kCount, kSeed);
    const auto before = valuesOf<double>(type, shard, kCount);
    ASSERT_TRUE(hadamardTransform(type, shard.data(), kCount, kSeed, 4));
    const auto after = valuesOf<double>(type, shard, kCount);
    for (const auto& block : blocksOf(type, kCount, kSeed)) {
      const auto x = gather(before, block);
      const auto y = gather(after, block);
      const auto error = difference(y, transformed(x, block, true));
      ASSERT_LE(norm(error), errorOf(type) * norm(x)) << elementTypeName(type);
      ASSERT_NEAR(norm(y), norm(x), errorOf(type) * norm(x));
    }
  }
}

TEST(Hadamard, comesBackWithinTheStatedError) {
  for (const auto type : kAllTypes) {
    auto shard = ordinaryShard(type, kCount, kSeed + 1);
    const auto before = valuesOf<double>(type, shard, kCount);
    ASSERT_TRUE(hadamardTransform(type, shard.data(), kCount, kSeed, 4));
    hadamardInverse(type, shard.data(), kCount, kSeed);
    const auto after = valuesOf<double>(type, shard, kCount);
    for (const auto& block : blocksOf(type, kCount, kSeed)) {
      const auto x = gather(before, block);
      const auto error = difference(gather(after, block), x);
      ASSERT_LE(norm(error), 2.02 * errorOf(type) * norm(x))
          << elementTypeName(type);
    }
    for (size_t i = 0; i < kCount % 64; i++) {
      ASSERT_EQ(before[i], after[i]) << "travels plain";
    }
  }
}

TEST(Hadamard, sumOfTransformsComesBackAsTheSum) {
  constexpr size_t kRanks = 5;
  for (const auto type : kAllTypes) {
    std::vector<double> sum(kCount);
    Buffer accumulator(kCount * elementSize(type), 0);
    std::memset(accumulator.data(), 0, kCount * elementSize(type));
    std::vector<double> norms(kCount);
    for (size_t rank = 0; rank < kRanks; rank++) {
      auto shard = ordinaryShard(type, kCount, kSeed + rank);
      const auto values = valuesOf<double>(type, shard, kCount);
      for (size_t i = 0; i < kCount; i++) {
        sum[i] += values[i];
      }
      for (const auto& block : blocksOf(type, kCount, kSeed)) {
        norms[block.first] += norm(gather(values, block));
      }
      ASSERT_TRUE(hadamardTransform(type, shard.data(), kCount, kSeed, kRanks));
      reductionKernels().add(type, accumulator.data(), shard.data(), kCount);
    }
    hadamardInverse(type, accumulator.data(), kCount, kSeed);
    const auto result = valuesOf<double>(type, accumulator, kCount);
    for (const auto& block : blocksOf(type, kCount, kSeed)) {
      const auto error = difference(gather(result, block), gather(sum, block));
      // Each direction once, and as many additions as there are ranks.
      const auto roundoff = roundoffOf(type);
      const double each = std::max(roundoff.arithmetic, roundoff.stored);
      ASSERT_LE(norm(error),
                (2 * errorOf(type) + kRanks * each) * 1.05 * norms[block.first])
          << elementTypeName(type);
    }
  }
}

// The worst case: every contributor's block is a row of H with the largest
// values, so that one coefficient contains all of it.
TEST(Hadamard, sumsAndWaysBackDoNotOverflowBelowTheLimit) {
  for (const auto type : kAllTypes) {
    for (const size_t contributors : {1, 3, 8, 100}) {
      const auto block = blocksOf(type, 64, kSeed)[0];
      const double limit = hadamardLimit(type, contributors);
      const double largest = limit * (1 - 0x1p-8);
      for (const size_t row : {0, 1, 37, 63}) {
        Buffer sum(64 * elementSize(type), 0);
        std::memset(sum.data(), 0, 64 * elementSize(type));
        for (size_t rank = 0; rank < contributors; rank++) {
          Buffer shard(64 * elementSize(type), 0);
          for (size_t k = 0; k < 64; k++) {
            setAs(type,
                  shard,
                  k,
                  largest * block.sign(k) * hadamardEntry(row, k));
          }
          ASSERT_TRUE(
              hadamardTransform(type, shard.data(), 64, kSeed, contributors));
          reductionKernels().add(type, sum.data(), shard.data(), 64);
        }
        const double peak = getAs(type, sum, row);
        ASSERT_LE(peak,
                  8 * limit *
                      std::exp2(std::ceil(
                          std::log2(static_cast<double>(contributors)))));
        ASSERT_GT(peak, 7 * limit);
        hadamardInverse(type, sum.data(), 64, kSeed);
        for (size_t k = 0; k < 64; k++) {
          ASSERT_TRUE(std::isfinite(getAs(type, sum, k)));
        }
      }
    }
  }
}

// Losses that follow a bent function, and a block that follows its spectrum:
// few blocks return such large values from so little data.
TEST(Hadamard, anInverseAfterALossDoesNotOverflow) {
  const auto arrived = [](size_t k) {
    return __builtin_parityll(k & (k >> 1) & 0x15) == 0;
  };
  const auto block = blocksOf(ElementType::kFloat32, 64, kSeed)[0];
  constexpr size_t kContributors = 4;
  for (const auto type : kAllTypes) {
    const double largest = hadamardLimit(type, kContributors) * (1 - 0x1p-8);
    Buffer sum(64 * elementSize(type), 0);
    std::memset(sum.data(), 0, 64 * elementSize(type));
    for (size_t rank = 0; rank < kContributors; rank++) {
      Buffer shard(64 * elementSize(type), 0);
      for (size_t j = 0; j < 64; j++) {
        int walsh = 0;
        for (size_t k = 0; k < 64; k++) {
          walsh += arrived(k) ? hadamardEntry(k, j) : 0;
        }
        setAs(type, shard, j, largest * block.sign(j) * (walsh < 0 ? -1 : 1));
      }
      ASSERT_TRUE(
          hadamardTransform(type, shard.data(), 64, kSeed, kContributors));
      reductionKernels().add(type, sum.data(), shard.data(), 64);
    }
    for (size_t k = 0; k < 64; k++) {
      setAs(type, sum, k, arrived(k) ? getAs(type, sum, k) : 0);
    }
    if (type != ElementType::kFloat16) {
      reductionKernels().scale(type, sum.data(), 64, 64);
    }
    hadamardInverse(type, sum.data(), 64, kSeed);
    const double first = std::fabs(getAs(type, sum, 0));
    ASSERT_TRUE(std::isfinite(first)) << elementTypeName(type);
    ASSERT_GT(first, 4 * kContributors * largest);
  }
}

TEST(Hadamard, limitsArePowersOfTwo) {
  EXPECT_EQ(4096, hadamardLimit(ElementType::kFloat16, 1));
  EXPECT_EQ(512, hadamardLimit(ElementType::kFloat16, 8));
  EXPECT_EQ(256, hadamardLimit(ElementType::kFloat16, 9));
  EXPECT_EQ(0x1p112, hadamardLimit(ElementType::kFloat32, 1));
  EXPECT_EQ(0x1p110, hadamardLimit(ElementType::kBfloat16, 3));
  EXPECT_EQ(0x1p1007, hadamardLimit(ElementType::kFloat64, 2));
}

TEST(Hadamard, rowsDoNotLieAMultipleOf512BytesApart) {
  for (const auto type : kAllTypes) {
    const size_t size = elementSize(type);
    for (size_t count = 0; count < 64 * 10000; count += 61) {
      const size_t n = hadamardColumns(type, count);
      const size_t stride = n * size;
      const size_t lost = count / 64 - n;
      if (stride >= 4096) {
        ASSERT_TRUE(stride % 512 >= 32 && stride % 512 < 480) << count;
      }
      ASSERT_TRUE(lost == 0 || lost == 64 / size) << count;
    }
    EXPECT_EQ(100, hadamardColumns(type, 6463));
    EXPECT_EQ((409600 - 64) / size, hadamardColumns(type, (25 << 20) / size));
  }
}

TEST(Hadamard, signsAreSplitmix64) {
  EXPECT_EQ(0xe220a8397b1dcdaf, splitmix64(0, 0));
  EXPECT_EQ(0x6e789e6aa1b965f4, splitmix64(0, 1));
  EXPECT_EQ(0x06c45d188009454f, splitmix64(0, 2));
}

}  // namespace
}  // namespace testing
}  // namespace ubt
