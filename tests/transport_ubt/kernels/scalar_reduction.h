// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace ubt {
namespace testing {

// 16-bit floats by their definition, slowly: the reference for the kernels.
// Values are doubles, so that only one rounding can happen.
struct NarrowFormat {
  int exponentBits;
  int mantissaBits;

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  int maxExponent() const { return (1 << exponentBits) - 1; }

  double decode(uint16_t bits) const {
    const int exponent = (bits >> mantissaBits) & maxExponent();
    const int mantissa = bits & ((1 << mantissaBits) - 1);
    const double sign = (bits & 0x8000) ? -1 : 1;
    if (exponent == maxExponent()) {
      return mantissa ? std::numeric_limits<double>::quiet_NaN()
                      : sign * std::numeric_limits<double>::infinity();
    }
    const int implicit = exponent ? 1 << mantissaBits : 0;
    return sign * std::ldexp(mantissa + implicit,
                             (exponent ? exponent : 1) - bias() - mantissaBits);
  }

  // To nearest, ties to even.
  uint16_t encode(double value) const {
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const uint16_t infinity = maxExponent() << mantissaBits;
    if (std::isnan(value)) {
      return sign | infinity | (1 << (mantissaBits - 1));
    }
    if (std::isinf(value)) {
      return sign | infinity;
    }
    int exponent = std::ilogb(value);
    if (value == 0 || exponent < 1 - bias()) {
      exponent = 1 - bias();
    }
    // In units of the last place; the default rounding mode is to even.
    const double units =
        std::nearbyint(std::ldexp(std::fabs(value), mantissaBits - exponent));
    const double biased = exponent + bias() - 1;
    const double bits = biased * (1 << mantissaBits) + units;
    return sign | (bits >= infinity ? infinity : static_cast<uint16_t>(bits));
  }
};

constexpr NarrowFormat kFloat16Format = {5, 10};
constexpr NarrowFormat kBfloat16Format = {8, 7};

}  // namespace testing
}  // namespace ubt
