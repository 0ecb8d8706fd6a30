// SPDX-License-Identifier: Apache-2.0
//
// The inner loops of hadamard.cc, read for each instruction set: see
// formats-inl.h.
#if defined(TRANSPORT_UBT_KERNELS_HADAMARD_STRIP_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef TRANSPORT_UBT_KERNELS_HADAMARD_STRIP_INL_H_
#undef TRANSPORT_UBT_KERNELS_HADAMARD_STRIP_INL_H_
#else
#define TRANSPORT_UBT_KERNELS_HADAMARD_STRIP_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "transport_ubt/kernels/formats-inl.h"
#include "transport_ubt/kernels/hadamard_layout.h"

// Emulated vectors are not unrolled: they have no registers to keep, and a
// compiler that checks each access would take minutes.
#undef UBT_UNROLL_8
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
#define UBT_UNROLL_8
#else
#define UBT_UNROLL_8 HWY_UNROLL(8)
#endif

HWY_BEFORE_NAMESPACE();
namespace ubt {
namespace HWY_NAMESPACE {

// Blocks are columns, so nothing moves between lanes: a vector holds the same
// row of neighbouring blocks. 64 = 8 * 8, and 8 vectors fit into the registers
// of any processor. So the first three levels of sums and differences are
// between neighbouring rows, and go to a scratch that stays in the first cache.
// The last three are between rows that are 8 apart, and go back to memory.
//
// All this waits for memory, unless memory is prefetched early and evenly. So
// the unit of work is a strip of 128 bytes of each row. It fits into the first
// cache together with its scratch (in float32, for the narrow types). A tile is
// 8 strips. While one tile is worked on, the next one is prefetched: 1024 bytes
// of each row.

constexpr size_t kRows = kHadamardRows;
constexpr size_t kRadix = 8;
constexpr size_t kLineBytes = 64;
constexpr size_t kTileBytes = kHadamardTileBytes;
constexpr size_t kStripBytes = 128;

// One pass over 8 rows of a strip prefetches half a row of a tile. A strip has
// 16 passes, so a tile's 8 strips have 2 passes for each of its rows.
constexpr size_t kAheadBytes = kRows * kStripBytes / (2 * kRadix);

template <typename Format>
constexpr size_t kStripColumns = kStripBytes / sizeof(typename Format::Stored);

// Rows of the scratch are not a power of two apart. Otherwise the cache would
// have too few places for 8 of them at once.
template <typename Format>
constexpr size_t kScratchStride = kStripColumns<Format> +
                                  kLineBytes / sizeof(typename Format::Real);

template <typename Format>
using Reals = hn::Vec<typename Format::Tag>;

template <typename V>
HWY_INLINE void butterfly(V& a, V& b) {
  const V sum = hn::Add(a, b);
  b = hn::Sub(a, b);
  a = sum;
}

template <typename V>
HWY_INLINE void transform8(V (&v)[kRadix]) {
  butterfly(v[0], v[1]);
  butterfly(v[2], v[3]);
  butterfly(v[4], v[5]);
  butterfly(v[6], v[7]);
  butterfly(v[0], v[2]);
  butterfly(v[1], v[3]);
  butterfly(v[4], v[6]);
  butterfly(v[5], v[7]);
  butterfly(v[0], v[4]);
  butterfly(v[1], v[5]);
  butterfly(v[2], v[6]);
  butterfly(v[3], v[7]);
}

// The first three levels: from 8 neighbouring `rows` to 8 rows of scratch.
template <typename Format, bool kForward, size_t kPart>
HWY_INLINE void firstLevels(const typename Format::Stored* rows,
                            size_t stride,
                            const typename Format::Real* factors,
                            typename Format::Real* scratch) {
  const typename Format::Tag d;
  Reals<Format> v[kRadix];
  UBT_UNROLL_8
  for (size_t i = 0; i < kRadix; i++) {
    v[i] = Format::template part<kPart>(Format::load(rows + i * stride));
    if (kForward) {
      v[i] = hn::Mul(v[i], hn::Set(d, factors[i]));
    }
  }
  transform8(v);
  UBT_UNROLL_8
  for (size_t i = 0; i < kRadix; i++) {
    hn::StoreU(v[i], d, scratch + i * kScratchStride<Format>);
  }
}

// The last three levels: from 8 rows of `scratch` that are 8 apart, like their
// factors.
template <typename Format, bool kForward>
HWY_INLINE void lastLevels(const typename Format::Real* scratch,
                           const typename Format::Real* factors,
                           Reals<Format> (&v)[kRadix]) {
  const typename Format::Tag d;
  UBT_UNROLL_8
  for (size_t i = 0; i < kRadix; i++) {
    v[i] = hn::LoadU(d, scratch + i * kRadix * kScratchStride<Format>);
  }
  transform8(v);
  if (!kForward) {
    UBT_UNROLL_8
    for (size_t i = 0; i < kRadix; i++) {
      v[i] = hn::Mul(v[i], hn::Set(d, factors[i * kRadix]));
    }
  }
}

// The next tile, and how much of it has been prefetched.
struct Ahead {
  const char* tile;
  size_t strideBytes;
  size_t passes;

  HWY_INLINE const char* next() {
    constexpr size_t kPassesPerRow = kTileBytes / kAheadBytes;
    const size_t row = passes / kPassesPerRow;
    const size_t part = passes % kPassesPerRow;
    passes++;
    return tile + row * strideBytes + part * kAheadBytes;
  }
};

// Prefetches the part of a pass's bytes ahead that belongs to `bytes` at
// `offset`.
HWY_INLINE void prefetch(const char* ahead, size_t offset, size_t bytes) {
  constexpr size_t kRatio = kAheadBytes / kStripBytes;
  for (size_t i = 0; i < kRatio * bytes; i += kLineBytes) {
    hwy::Prefetch(ahead + kRatio * offset + i);
  }
}

template <typename Format, bool kForward>
HWY_NOINLINE void transformStrip(typename Format::Stored* data,
                                 size_t stride,
                                 const typename Format::Real* factors,
                                 Ahead& ahead) {
  using Real = typename Format::Real;
  constexpr size_t kStride = kScratchStride<Format>;
  constexpr size_t kColumns = kStripColumns<Format>;
  constexpr size_t kElement = sizeof(typename Format::Stored);
  const size_t lanes = Format::lanes();
  const size_t part = lanes / Format::kParts;
  alignas(kLineBytes) Real scratch[kRows * kStride];
  for (size_t group = 0; group < kRows; group += kRadix) {
    const char* next = ahead.next();
    for (size_t i = 0; i < kColumns; i += lanes) {
      prefetch(next, i * kElement, lanes * kElement);
      const auto* from = data + group * stride + i;
      Real* to = scratch + group * kStride + i;
      firstLevels<Format, kForward, 0>(from, stride, factors + group, to);
      if constexpr (Format::kParts == 2) {
        firstLevels<Format, kForward, 1>(
            from, stride, factors + group, to + part);
      }
    }
  }
  for (size_t row = 0; row < kRadix; row++) {
    const char* next = ahead.next();
    for (size_t i = 0; i < kColumns; i += lanes) {
      prefetch(next, i * kElement, lanes * kElement);
      const Real* from = scratch + row * kStride + i;
      auto* to = data + row * stride + i;
      Reals<Format> v[kRadix];
      lastLevels<Format, kForward>(from, factors + row, v);
      if constexpr (Format::kParts == 1) {
        UBT_UNROLL_8
        for (size_t k = 0; k < kRadix; k++) {
          Format::store(v[k], to + k * kRadix * stride);
        }
      } else {
        Reals<Format> second[kRadix];
        lastLevels<Format, kForward>(from + part, factors + row, second);
        UBT_UNROLL_8
        for (size_t k = 0; k < kRadix; k++) {
          Format::store({v[k], second[k]}, to + k * kRadix * stride);
        }
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ubt
HWY_AFTER_NAMESPACE();

#endif  // TRANSPORT_UBT_KERNELS_HADAMARD_STRIP_INL_H_
