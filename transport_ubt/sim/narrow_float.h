// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "transport_ubt/core/base/element_type.h"

namespace ubt::sim {

// The two 16-bit types, computed with doubles: simple and slow. Values must be
// finite and in the type's range.

inline double fromHalf(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const double value = exponent == 0
                           ? std::ldexp(mantissa, -24)
                           : std::ldexp(1024 + mantissa, exponent - 25);
  return bits >> 15 != 0 ? -value : value;
}

// Rounds to nearest, ties to even, because that is the current rounding mode.
inline uint16_t toHalf(double value) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double size = std::abs(value);
  if (size == 0) {
    return sign;
  }
  // The mantissa: 1024 to 2047 units, or fewer for subnormal numbers.
  int exponent = std::max(std::ilogb(size), -14);
  double units = std::nearbyint(std::ldexp(size, 10 - exponent));
  if (units == 2048) {
    units = 1024;
    exponent++;
  }
  const auto whole = static_cast<uint16_t>(units);
  return static_cast<uint16_t>(
      sign | (whole < 1024 ? whole : (exponent + 15) << 10 | (whole - 1024)));
}

inline double fromBfloat(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

inline uint16_t toBfloat(double value) {
  const auto narrow = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof(bits));
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Loads or stores one element in memory.
inline double loadElement(ElementType type, const void* at) {
  if (type == ElementType::kFloat64) {
    double value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  if (type == ElementType::kFloat32) {
    float value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, at, sizeof(bits));
  return type == ElementType::kFloat16 ? fromHalf(bits) : fromBfloat(bits);
}

inline void storeElement(ElementType type, double value, void* at) {
  if (type == ElementType::kFloat64) {
    std::memcpy(at, &value, sizeof(value));
    return;
  }
  const auto narrow = static_cast<float>(value);
  if (type == ElementType::kFloat32) {
    std::memcpy(at, &narrow, sizeof(narrow));
    return;
  }
  const uint16_t bits =
      type == ElementType::kFloat16 ? toHalf(narrow) : toBfloat(narrow);
  std::memcpy(at, &bits, sizeof(bits));
}

// The value after rounding to the type.
inline double roundedTo(ElementType type, double value) {
  std::byte bytes[sizeof(double)];
  storeElement(type, value, bytes);
  return loadElement(type, bytes);
}

}  // namespace ubt::sim
