// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/kernels/reduction_kernels.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/transport_ubt/kernels/element_buffer.h"
#include "tests/transport_ubt/kernels/every_target.h"

namespace ubt {
namespace testing {
namespace {

class Targets : public EveryTarget {
 protected:
  const Reduction& kernels_ = reductionKernels();
};

TEST_P(Targets, addsEveryRemainderAndMisalignment) {
  for (const auto type : kAllTypes) {
    for (size_t count = 0; count <= 70; count++) {
      for (size_t misalignment = 0; misalignment < 9; misalignment++) {
        const size_t bytes = count * elementSize(type);
        Buffer to(bytes, misalignment);
        Buffer from(bytes, (misalignment * 5 + 3) % 64);
        std::vector<double> expected;
        for (size_t i = 0; i < count; i++) {
          setAs(type, to, i, 1.0 + i * 0.5);
          setAs(type, from, i, -3.0 + i * 0.25);
          expected.push_back(
              rounded(type, getAs(type, to, i) + getAs(type, from, i)));
        }
        kernels_.add(type, to.data(), from.data(), count);
        for (size_t i = 0; i < count; i++) {
          ASSERT_EQ(expected[i], getAs(type, to, i))
              << elementTypeName(type) << " element " << i << " of " << count
              << " misaligned by " << misalignment;
        }
        ASSERT_TRUE(to.guardsIntact() && from.guardsIntact());
      }
    }
  }
}

TEST_P(Targets, scalesEveryRemainder) {
  for (const auto type : kAllTypes) {
    for (size_t count = 0; count <= 70; count++) {
      Buffer data(count * elementSize(type), count % 8);
      std::vector<double> expected;
      for (size_t i = 0; i < count; i++) {
        setAs(type, data, i, -3.0 + i * 0.25);
        expected.push_back(rounded(type, getAs(type, data, i) * 1.25));
      }
      kernels_.scale(type, data.data(), 1.25, count);
      for (size_t i = 0; i < count; i++) {
        ASSERT_EQ(expected[i], getAs(type, data, i)) << elementTypeName(type);
      }
      ASSERT_TRUE(data.guardsIntact());
    }
  }
}

TEST_P(Targets, everySixteenBitValueSurvivesAddingZero) {
  for (const auto type : {ElementType::kFloat16, ElementType::kBfloat16}) {
    constexpr size_t kValues = 65536;
    Buffer to(kValues * 2, 2);
    Buffer from(kValues * 2, 6);
    for (size_t i = 0; i < kValues; i++) {
      to.set<uint16_t>(i, i);
      from.set<uint16_t>(i, 0x8000);  // -0: x + -0 is x, even for x = -0
    }
    kernels_.add(type, to.data(), from.data(), kValues);
    for (size_t i = 0; i < kValues; i++) {
      if (std::isnan(formatOf(type).decode(i))) {
        ASSERT_TRUE(std::isnan(getAs(type, to, i))) << std::hex << i;
      } else {
        ASSERT_EQ(i, to.get<uint16_t>(i)) << elementTypeName(type);
      }
    }
  }
}

// All pairs would be 2^32. A seeded sample of bit patterns of the whole range
// finds each kind of rounding, overflow and special value many times.
TEST_P(Targets, sixteenBitSumsAndProductsRoundOnce) {
  const uint64_t seed = 0x5eed;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  constexpr size_t kCount = 40000;
  for (const auto type : {ElementType::kFloat16, ElementType::kBfloat16}) {
    Buffer to(kCount * 2, 0);
    Buffer from(kCount * 2, 1);
    Buffer scaled(kCount * 2, 3);
    const double factor = 8.0 / 7.0;
    std::vector<uint16_t> sums;
    std::vector<uint16_t> products;
    for (size_t i = 0; i < kCount; i++) {
      const auto a = static_cast<uint16_t>(random());
      auto b = static_cast<uint16_t>(random());
      if (i % 2) {
        b = (a ^ 0x8000) + i % 5000 - 2500;  // near, so that they interact
      }
      to.set(i, a);
      from.set(i, b);
      scaled.set(i, a);
      const auto& format = formatOf(type);
      const float x = format.decode(a);
      const float y = format.decode(b);
      const volatile float sum = x + y;
      const volatile float product = x * static_cast<float>(factor);
      sums.push_back(format.encode(sum));
      products.push_back(format.encode(product));
    }
    kernels_.add(type, to.data(), from.data(), kCount);
    kernels_.scale(type, scaled.data(), factor, kCount);
    for (size_t i = 0; i < kCount; i++) {
      if (std::isnan(formatOf(type).decode(sums[i]))) {
        ASSERT_TRUE(std::isnan(getAs(type, to, i)));
      } else {
        ASSERT_EQ(sums[i], to.get<uint16_t>(i))
            << elementTypeName(type) << " seed " << seed << " element " << i;
      }
      if (std::isnan(formatOf(type).decode(products[i]))) {
        ASSERT_TRUE(std::isnan(getAs(type, scaled, i)));
      } else {
        ASSERT_EQ(products[i], scaled.get<uint16_t>(i))
            << elementTypeName(type) << " seed " << seed << " element " << i;
      }
    }
  }
}

TEST_P(Targets, specialValuesOfWideTypes) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto type : {ElementType::kFloat32, ElementType::kFloat64}) {
    Buffer to(4 * elementSize(type), 1);
    Buffer from(4 * elementSize(type), 2);
    const float left[] = {infinity, infinity, nan, 1};
    const float right[] = {1, -infinity, 1, nan};
    for (size_t i = 0; i < 4; i++) {
      setAs(type, to, i, left[i]);
      setAs(type, from, i, right[i]);
    }
    kernels_.add(type, to.data(), from.data(), 4);
    EXPECT_EQ(infinity, getAs(type, to, 0));
    for (size_t i = 1; i < 4; i++) {
      EXPECT_TRUE(std::isnan(getAs(type, to, i))) << i;
    }
  }
}

UBT_INSTANTIATE_EVERY_TARGET(Targets);

// RapidCheck prints the seed and the shrunk counter-example.
RC_GTEST_PROP(ReductionKernels, addsAnyFloats, ()) {
  const auto left = *rc::gen::arbitrary<std::vector<float>>();
  const auto right = *rc::gen::container<std::vector<float>>(
      left.size(), rc::gen::arbitrary<float>());
  auto sum = left;
  reductionKernels().add(
      ElementType::kFloat32, sum.data(), right.data(), sum.size());
  for (size_t i = 0; i < sum.size(); i++) {
    RC_ASSERT(sum[i] == left[i] + right[i]);
  }
}

RC_GTEST_PROP(ReductionKernels, addsDoublesToThemselves, ()) {
  const auto values = *rc::gen::arbitrary<std::vector<double>>();
  auto sum = values;
  reductionKernels().add(
      ElementType::kFloat64, sum.data(), sum.data(), sum.size());
  for (size_t i = 0; i < sum.size(); i++) {
    RC_ASSERT(sum[i] == values[i] + values[i]);
  }
}

}  // namespace
}  // namespace testing
}  // namespace ubt
