// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/kernels/hadamard.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "transport_ubt/kernels/hadamard_layout.h"

// This file is compiled once for each instruction set: foreach_target.h
// includes it repeatedly, and HWY_NAMESPACE names the set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transport_ubt/kernels/hadamard.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "transport_ubt/kernels/formats-inl.h"
#include "transport_ubt/kernels/hadamard_strip-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ubt {
namespace HWY_NAMESPACE {

// The signs of a tile, times the 1 / 8 that keeps the energy.
template <typename Real>
HWY_INLINE void makeFactors(uint64_t signs, Real* factors) {
  constexpr Real kChoices[] = {Real(1) / 8, Real(-1) / 8};
  for (size_t k = 0; k < kRows; k++) {
    factors[k] = kChoices[signs >> k & 1];
  }
}

// Transforms a strip that has fewer columns than kStripColumns.
template <typename Format, bool kForward>
HWY_INLINE void transformNarrow(typename Format::Stored* data,
                                size_t stride,
                                size_t columns,
                                const typename Format::Real* factors) {
  using Stored = typename Format::Stored;
  constexpr size_t kColumns = kStripColumns<Format>;
  Stored padded[kRows * kColumns] = {};
  for (size_t k = 0; k < kRows; k++) {
    std::copy_n(data + k * stride, columns, padded + k * kColumns);
  }
  Ahead nothing = {reinterpret_cast<const char*>(padded), 0, 0};
  transformStrip<Format, kForward>(padded, kColumns, factors, nothing);
  for (size_t k = 0; k < kRows; k++) {
    std::copy_n(padded + k * kColumns, columns, data + k * stride);
  }
}

template <typename Format, bool kForward>
void transformMatrix(void* matrix,
                     size_t columns,
                     uint64_t seed,
                     uint64_t firstTile) {
  using Stored = typename Format::Stored;
  constexpr size_t kTile = kTileBytes / sizeof(Stored);
  constexpr size_t kStrip = kStripColumns<Format>;
  auto* data = static_cast<Stored*>(matrix);
  for (size_t begin = 0; begin < columns; begin += kTile) {
    typename Format::Real factors[kRows];
    makeFactors(hadamardSigns(seed, firstTile + begin / kTile), factors);
    const size_t end = std::min(begin + kTile, columns);
    const size_t next = columns - end < kTile ? begin : end;
    Ahead ahead = {reinterpret_cast<const char*>(data + next),
                   columns * sizeof(Stored),
                   0};
    size_t i = begin;
    for (; end - i >= kStrip; i += kStrip) {
      transformStrip<Format, kForward>(data + i, columns, factors, ahead);
    }
    if (i < end) {
      transformNarrow<Format, kForward>(data + i, columns, end - i, factors);
    }
  }
}

template <bool kForward>
HWY_INLINE void transformAs(ElementType type,
                            void* matrix,
                            size_t columns,
                            uint64_t seed,
                            uint64_t firstTile) {
  switch (type) {
    case ElementType::kFloat32:
      return transformMatrix<Plain<float>, kForward>(
          matrix, columns, seed, firstTile);
    case ElementType::kFloat64:
      return transformMatrix<Plain<double>, kForward>(
          matrix, columns, seed, firstTile);
    case ElementType::kFloat16:
      return transformMatrix<Float16, kForward>(
          matrix, columns, seed, firstTile);
    case ElementType::kBfloat16:
      return transformMatrix<Bfloat16, kForward>(
          matrix, columns, seed, firstTile);
  }
}

void forward(ElementType type,
             void* matrix,
             size_t columns,
             uint64_t seed,
             uint64_t firstTile) {
  transformAs<true>(type, matrix, columns, seed, firstTile);
}

void inverse(ElementType type,
             void* matrix,
             size_t columns,
             uint64_t seed,
             uint64_t firstTile) {
  transformAs<false>(type, matrix, columns, seed, firstTile);
}

// Whether all magnitudes are below one whose bits are `limit`. Without the
// sign, the bits of floats compare like integers; infinities and NaNs come
// last.
template <typename Bits>
HWY_INLINE bool bitsBelow(const void* from, size_t count, Bits limit) {
  const auto* data = static_cast<const Bits*>(from);
  constexpr Bits kMagnitude = std::numeric_limits<Bits>::max();
  const hn::ScalableTag<Bits> d;
  const auto magnitude = hn::Set(d, kMagnitude);
  // Reading at four places in turn doubles the throughput of memory.
  constexpr size_t kPlaces = 4;
  const size_t step = 4 * hn::Lanes(d);
  const size_t quarter = count / kPlaces / step * step;
  auto largest = hn::Zero(d);
  auto largest2 = hn::Zero(d);
  for (size_t i = 0; i < quarter; i += step) {
    for (size_t place = 0; place < kPlaces; place++) {
      const Bits* at = data + place * quarter + i;
      HWY_UNROLL(2)
      for (size_t j = 0; j < step; j += step / 2) {
        const auto a = hn::LoadU(d, at + j);
        const auto b = hn::LoadU(d, at + j + hn::Lanes(d));
        largest = hn::Max(largest, hn::And(a, magnitude));
        largest2 = hn::Max(largest2, hn::And(b, magnitude));
      }
    }
  }
  const auto below = hn::Lt(hn::Max(largest, largest2), hn::Set(d, limit));
  bool result = hn::AllTrue(d, below);
  for (size_t i = kPlaces * quarter; i < count; i++) {
    Bits bits;
    std::memcpy(&bits, data + i, sizeof(bits));
    result &= (bits & kMagnitude) < limit;
  }
  return result;
}

bool allBelow(ElementType type,
              const void* data,
              size_t count,
              uint64_t limitBits) {
  switch (type) {
    case ElementType::kFloat32:
      return bitsBelow<int32_t>(data, count, limitBits);
    case ElementType::kFloat64:
      return bitsBelow<int64_t>(data, count, limitBits);
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      return bitsBelow<int16_t>(data, count, limitBits);
  }
  return false;
}

}  // namespace HWY_NAMESPACE
}  // namespace ubt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace ubt {
namespace {

HWY_EXPORT(forward);
HWY_EXPORT(inverse);
HWY_EXPORT(allBelow);

// How a type stores a power of two, 2^e: as (e + bias) << mantissaBits.
struct Limit {
  int exponent;  // of the limit for one contributor
  int bias;
  int mantissaBits;
};

Limit limitOf(ElementType type) {
  switch (type) {
    case ElementType::kFloat64:
      return {1008, 1023, 52};
    case ElementType::kFloat16:
      return {12, 15, 10};
    case ElementType::kBfloat16:
      return {112, 127, 7};
    case ElementType::kFloat32:
      break;
  }
  return {112, 127, 23};
}

int limitExponent(ElementType type, size_t contributors) {
  int exponent = limitOf(type).exponent;
  for (; contributors > 1; contributors -= contributors / 2) {
    exponent--;
  }
  return exponent;
}

uint64_t limitBits(ElementType type, size_t contributors) {
  const auto limit = limitOf(type);
  const int exponent = limitExponent(type, contributors) + limit.bias;
  return static_cast<uint64_t>(std::max(exponent, 0)) << limit.mantissaBits;
}

// Calls one(matrix, columns, number of its first tile) for each matrix, the
// last one first.
template <typename One>
void forEachMatrix(ElementType type, void* data, size_t count, const One& one) {
  const size_t elementBytes = elementSize(type);
  uint64_t tiles = 0;
  while (count >= kHadamardRows) {
    const size_t columns = hadamardColumns(type, count);
    count -= kHadamardRows * columns;
    one(static_cast<char*>(data) + count * elementBytes, columns, tiles);
    const size_t rowBytes = columns * elementBytes;
    tiles += (rowBytes + kHadamardTileBytes - 1) / kHadamardTileBytes;
  }
}

}  // namespace

bool hadamardTransform(ElementType type,
                       void* data,
                       size_t count,
                       uint64_t seed,
                       size_t contributors) {
  // A separate pass: transformed tiles cannot be restored, bit for bit, if a
  // later one fails.
  if (!HWY_DYNAMIC_DISPATCH(allBelow)(
          type, data, count, limitBits(type, contributors))) {
    return false;
  }
  forEachMatrix(
      type, data, count, [&](void* matrix, size_t columns, uint64_t tile) {
        HWY_DYNAMIC_DISPATCH(forward)(type, matrix, columns, seed, tile);
      });
  return true;
}

void hadamardInverse(ElementType type,
                     void* data,
                     size_t count,
                     uint64_t seed) {
  forEachMatrix(
      type, data, count, [&](void* matrix, size_t columns, uint64_t tile) {
        HWY_DYNAMIC_DISPATCH(inverse)(type, matrix, columns, seed, tile);
      });
}

double hadamardLimit(ElementType type, size_t contributors) {
  return std::ldexp(1, limitExponent(type, contributors));
}

size_t hadamardColumns(ElementType type, size_t count) {
  constexpr size_t kPageBytes = 4096;
  constexpr size_t kBadBytes = 512;
  constexpr size_t kNearBytes = 32;
  constexpr size_t kLineBytes = 64;
  const size_t columns = count / kHadamardRows;
  const size_t stride = columns * elementSize(type);
  const bool aliased = (stride + kNearBytes) % kBadBytes < 2 * kNearBytes;
  return stride >= kPageBytes && aliased
             ? columns - kLineBytes / elementSize(type)
             : columns;
}

}  // namespace ubt

#endif  // HWY_ONCE
