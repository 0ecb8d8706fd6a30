// SPDX-License-Identifier: Apache-2.0
#include "algorithms/eligibility.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace gloo {
namespace {

constexpr size_t kValues = 8;
// These values and their sums are exact in all four types. No integer type's
// sum, and no product, minimum or maximum, gives the same bits.
constexpr float kLeft[kValues] = {1.5, -2.25, 0.5, 3, -1.75, 6, 0.125, -4};
constexpr float kRight[kValues] = {2.25, 0.75, -3, 1.5, -2, 0.25, 1.5, 7};

uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// For the normal values above, which need no rounding.
uint16_t halfBits(float value) {
  const uint32_t bits = bitsOf(value);
  const uint32_t exponent = ((bits >> 23) & 0xff) - 127 + 15;
  return static_cast<uint16_t>((bits >> 16 & 0x8000) | exponent << 10 |
                               (bits >> 13 & 0x3ff));
}

void store(ubt::ElementType type, float value, uint8_t* at) {
  switch (type) {
    case ubt::ElementType::kFloat32:
      std::memcpy(at, &value, sizeof(value));
      return;
    case ubt::ElementType::kFloat64: {
      const double wide = value;
      std::memcpy(at, &wide, sizeof(wide));
      return;
    }
    case ubt::ElementType::kFloat16: {
      const uint16_t half = halfBits(value);
      std::memcpy(at, &half, sizeof(half));
      return;
    }
    case ubt::ElementType::kBfloat16: {
      const auto half = static_cast<uint16_t>(bitsOf(value) >> 16);
      std::memcpy(at, &half, sizeof(half));
      return;
    }
  }
}

bool sums(const AllreduceOptions::Func& reduce, ubt::ElementType type) {
  const size_t size = ubt::elementSize(type);
  // Aligned for any of the types.
  std::vector<uint64_t> left(kValues), right(kValues), expected(kValues);
  const auto bytes = [](std::vector<uint64_t>& v) {
    return reinterpret_cast<uint8_t*>(v.data());
  };
  for (size_t i = 0; i < kValues; i++) {
    store(type, kLeft[i], bytes(left) + i * size);
    store(type, kRight[i], bytes(right) + i * size);
    store(type, kLeft[i] + kRight[i], bytes(expected) + i * size);
  }
  reduce(left.data(), left.data(), right.data(), kValues);
  return std::memcmp(left.data(), expected.data(), kValues * size) == 0;
}

}  // namespace

std::optional<ubt::ElementType> summedType(const AllreduceOptions::Func& reduce,
                                           size_t elementSize) {
  for (uint8_t i = 0; i < ubt::kElementTypes && reduce; i++) {
    const auto type = static_cast<ubt::ElementType>(i);
    if (ubt::elementSize(type) == elementSize && sums(reduce, type)) {
      return type;
    }
  }
  return std::nullopt;
}

std::optional<ubt::ElementType> eligibleType(
    const detail::AllreduceOptionsImpl& options, size_t bytesMin) {
  const size_t bytes = options.elements * options.elementSize;
  return bytes == 0 || bytes < bytesMin
             ? std::nullopt
             : summedType(options.reduce, options.elementSize);
}

}  // namespace gloo
