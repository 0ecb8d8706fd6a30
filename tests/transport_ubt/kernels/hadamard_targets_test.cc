// SPDX-License-Identifier: Apache-2.0
//
// Results that must be equal, bit for bit, on every processor.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tests/transport_ubt/kernels/element_buffer.h"
#include "tests/transport_ubt/kernels/every_target.h"
#include "tests/transport_ubt/kernels/scalar_hadamard.h"
#include "transport_ubt/kernels/hadamard.h"

namespace ubt {
namespace testing {
namespace {

class HadamardTargets : public EveryTarget {};

constexpr uint64_t kSeed = 0x5eed;

// Counts of each kind: zero, less than a block, remainders, incomplete strips
// and tiles, several tiles, rows a page apart and nearly so.
std::vector<size_t> countsOf(ElementType type) {
  const size_t line = 64 / elementSize(type);
  const size_t page = 4096 / elementSize(type);
  return {0,
          1,
          63,
          64,
          65,
          127,
          128,
          64 * 17 + 13,
          64 * 2 * line,
          64 * (2 * line + 1),
          64 * 16 * line + 63,
          64 * (35 * line + 5) + 1,
          64 * page + 7,
          64 * (page - 1),
          64 * (page + line / 2),
          64 * (page + line) + 32};
}

// Exponents near 0; the smallest ones, so that products with 1 / 8 have to be
// rounded; or any below the limit.
enum class Kind { kOrdinary, kTiny, kAll };

double smallestOf(ElementType type) {
  switch (type) {
    case ElementType::kFloat64:
      return std::numeric_limits<double>::denorm_min();
    case ElementType::kFloat16:
      return 0x1p-24;
    case ElementType::kBfloat16:
      return 0x1p-133;
    case ElementType::kFloat32:
      break;
  }
  return 0x1p-149;
}

double anyValue(ElementType type, Kind kind, std::mt19937_64& random) {
  const double sign = random() % 2 ? 1 : -1;
  const double below1 = std::ldexp(static_cast<double>(random()), -64);
  if (random() % 16 == 0) {
    return sign * 0.0;
  }
  switch (kind) {
    case Kind::kOrdinary:
      break;
    case Kind::kTiny:
      return sign * smallestOf(type) * static_cast<double>(random() % 100);
    case Kind::kAll: {
      const double limit = hadamardLimit(type, 8) * 0.99;
      const int range = static_cast<int>(std::log2(limit / smallestOf(type)));
      return sign * limit * below1 * std::exp2(-(random() % range * 1.0));
    }
  }
  return sign * std::ldexp(below1, static_cast<int>(random() % 10) - 5);
}

Buffer anyShard(
    ElementType type, Kind kind, size_t count, size_t offset, uint64_t seed) {
  std::mt19937_64 random(seed);
  Buffer shard(count * elementSize(type), offset * elementSize(type));
  for (size_t i = 0; i < count; i++) {
    setAs(type, shard, i, anyValue(type, kind, random));
  }
  return shard;
}

// The reference's result for a shard, as bits.
template <typename Real>
Buffer expectedAs(ElementType type,
                  Buffer& shard,
                  size_t count,
                  uint64_t seed,
                  bool forward) {
  auto values = valuesOf<Real>(type, shard, count);
  scalarHadamard(values, blocksOf(type, count, seed), forward);
  Buffer result(count * elementSize(type), 0);
  for (size_t i = 0; i < count; i++) {
    setAs(type, result, i, values[i]);
  }
  return result;
}

Buffer expectedOf(ElementType type,
                  Buffer& shard,
                  size_t count,
                  uint64_t seed,
                  bool forward) {
  return type == ElementType::kFloat64
             ? expectedAs<double>(type, shard, count, seed, forward)
             : expectedAs<float>(type, shard, count, seed, forward);
}

::testing::AssertionResult sameBits(ElementType type,
                                    Buffer& expected,
                                    Buffer& actual,
                                    size_t count) {
  for (size_t i = 0; i < count; i++) {
    const size_t at = i * elementSize(type);
    if (std::memcmp(
            expected.data() + at, actual.data() + at, elementSize(type)) != 0) {
      return ::testing::AssertionFailure()
             << elementTypeName(type) << ", element " << i << " of " << count
             << ": " << getAs(type, expected, i) << " expected, "
             << getAs(type, actual, i) << " found";
    }
  }
  return ::testing::AssertionSuccess();
}

// For all instruction sets: if each agrees with the reference, they agree with
// each other, bit for bit.
TEST_P(HadamardTargets, agreesWithTheReferenceBitForBit) {
  for (const auto type : kAllTypes) {
    for (const size_t count : countsOf(type)) {
      size_t offset = 0;  // in elements
      for (const auto kind : {Kind::kOrdinary, Kind::kTiny, Kind::kAll}) {
        const uint64_t seed = kSeed + count + offset;
        auto shard = anyShard(type, kind, count, offset, seed);
        auto expected = expectedOf(type, shard, count, seed, true);
        ASSERT_TRUE(hadamardTransform(type, shard.data(), count, seed, 8));
        ASSERT_TRUE(sameBits(type, expected, shard, count)) << seed;
        expected = expectedOf(type, shard, count, seed, false);
        hadamardInverse(type, shard.data(), count, seed);
        ASSERT_TRUE(sameBits(type, expected, shard, count)) << seed;
        ASSERT_TRUE(shard.guardsIntact());
        offset = offset * 4 + 1;
      }
    }
  }
}

void setBits(ElementType type, Buffer& shard, size_t i, uint64_t bits) {
  std::memcpy(shard.data() + i * elementSize(type), &bits, elementSize(type));
}

struct Special {
  uint64_t infinity;
  uint64_t sign;
};

Special specialOf(ElementType type) {
  switch (type) {
    case ElementType::kFloat64:
      return {0x7ff0000000000000, 0x8000000000000000};
    case ElementType::kFloat16:
      return {0x7c00, 0x8000};
    case ElementType::kBfloat16:
      return {0x7f80, 0x8000};
    case ElementType::kFloat32:
      break;
  }
  return {0x7f800000, 0x80000000};
}

uint64_t bitsOf(ElementType type, double value) {
  Buffer one(8, 0);
  setAs(type, one, 0, value);
  uint64_t bits = 0;
  std::memcpy(&bits, one.data(), elementSize(type));
  return bits;
}

TEST_P(HadamardTargets, refusesValuesThatCouldOverflowAndTouchesNothing) {
  for (const auto type : kAllTypes) {
    const auto special = specialOf(type);
    for (const size_t contributors : {1, 2, 3, 8, 1000}) {
      const uint64_t limit = bitsOf(type, hadamardLimit(type, contributors));
      for (const size_t count : {1, 63, 64, 700, 64 * 70 + 9}) {
        Buffer original(count * elementSize(type), elementSize(type));
        for (size_t i = 0; i < count; i++) {  // all far below each limit
          setBits(type, original, i, i % 2 ? special.sign : i % 8);
        }
        for (const size_t at : {size_t{0}, count / 3, count - 1}) {
          for (const uint64_t bits : {limit,
                                      limit + 1,
                                      special.infinity,
                                      special.infinity + 1,  // signals
                                      special.sign - 1,      // NaN
                                      limit - 1}) {
            for (const uint64_t sign : {uint64_t{0}, special.sign}) {
              auto shard = original;
              setBits(type, shard, at, bits | sign);
              auto before = shard;
              const bool good = hadamardTransform(
                  type, shard.data(), count, kSeed, contributors);
              ASSERT_EQ(bits < limit, good)
                  << elementTypeName(type) << std::hex << bits;
              if (!good) {
                ASSERT_TRUE(sameBits(type, before, shard, count));
              }
            }
          }
        }
      }
    }
  }
}

UBT_INSTANTIATE_EVERY_TARGET(HadamardTargets);

}  // namespace
}  // namespace testing
}  // namespace ubt
