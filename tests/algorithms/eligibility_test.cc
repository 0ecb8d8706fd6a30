// SPDX-License-Identifier: Apache-2.0
#include "algorithms/eligibility.h"

#include <gloo/context.h>
#include <gloo/math.h>
#include <gloo/types.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace gloo {
namespace {

using ubt::ElementType;
using Plain = void (*)(void*, const void*, const void*, size_t);

template <typename T>
std::optional<ElementType> probed(Plain reduce) {
  return summedType(reduce, sizeof(T));
}

// A type that Gloo lacks: 16 bits, the upper half of a float.
template <typename Combine>
AllreduceOptions::Func onBfloat16(Combine combine) {
  return [combine](void* c, const void* a, const void* b, size_t n) {
    const auto wide = [](const void* from, size_t i) {
      const uint32_t bits = uint32_t{static_cast<const uint16_t*>(from)[i]}
                            << 16;
      float value;
      std::memcpy(&value, &bits, sizeof(value));
      return value;
    };
    for (size_t i = 0; i < n; i++) {
      const float value = combine(wide(a, i), wide(b, i));
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof(bits));
      static_cast<uint16_t*>(c)[i] = bits >> 16;
    }
  };
}

TEST(ReductionProbe, TellsTheFourTypesBySum) {
  EXPECT_EQ(probed<float>(&sum<float>), ElementType::kFloat32);
  EXPECT_EQ(probed<double>(&sum<double>), ElementType::kFloat64);
  EXPECT_EQ(probed<float16>(&sum<float16>), ElementType::kFloat16);
  EXPECT_EQ(summedType(onBfloat16([](float a, float b) { return a + b; }), 2),
            ElementType::kBfloat16);
}

template <typename T>
void expectNoSum() {
  EXPECT_FALSE(probed<T>(&product<T>));
  EXPECT_FALSE(probed<T>(&min<T>));
  EXPECT_FALSE(probed<T>(&max<T>));
}

TEST(ReductionProbe, TakesNoOtherOperationForASum) {
  expectNoSum<float>();
  expectNoSum<double>();
  expectNoSum<float16>();
  for (const auto combine : {+[](float a, float b) { return a * b; },
                             +[](float a, float b) { return a < b ? a : b; },
                             +[](float a, float b) { return a < b ? b : a; },
                             +[](float a, float b) { return a - b; },
                             +[](float a, float) { return a; }}) {
    EXPECT_FALSE(summedType(onBfloat16(combine), 2));
  }
}

TEST(ReductionProbe, TakesNoIntegersForFloats) {
  EXPECT_FALSE(probed<int8_t>(&sum<int8_t>));
  EXPECT_FALSE(probed<int32_t>(&sum<int32_t>));
  EXPECT_FALSE(probed<uint32_t>(&sum<uint32_t>));
  EXPECT_FALSE(probed<int64_t>(&sum<int64_t>));
  EXPECT_FALSE(probed<uint64_t>(&sum<uint64_t>));
  EXPECT_FALSE(probed<int16_t>(&sum<int16_t>));
}

TEST(ReductionProbe, TakesNothingWithoutAFunctionOrOfAnotherSize) {
  EXPECT_FALSE(summedType(nullptr, 4));
  EXPECT_FALSE(summedType(static_cast<Plain>(&sum<float>), 3));
  EXPECT_FALSE(summedType(static_cast<Plain>(&sum<float>), 0));
}

// Sizes decide before the reduction function is called.
TEST(Eligibility, IsForSumsOfSomeSize) {
  detail::AllreduceOptionsImpl options(std::make_shared<Context>(0, 1));
  options.elementSize = sizeof(float);
  options.elements = 100;
  options.reduce = static_cast<Plain>(&sum<float>);
  EXPECT_EQ(eligibleType(options, 400), ubt::ElementType::kFloat32);
  EXPECT_FALSE(eligibleType(options, 401));
  options.elements = 0;
  EXPECT_FALSE(eligibleType(options, 0));
  EXPECT_TRUE(isEligible(*ReductionFunction<double>::sum, 50, 400));
  EXPECT_FALSE(isEligible(*ReductionFunction<double>::sum, 49, 400));
  EXPECT_FALSE(isEligible(*ReductionFunction<double>::max, 50, 400));
  EXPECT_FALSE(isEligible(*ReductionFunction<int>::sum, 100, 400));
  EXPECT_FALSE(isEligible(*ReductionFunction<float>::sum, 0, 0));
}

}  // namespace
}  // namespace gloo
