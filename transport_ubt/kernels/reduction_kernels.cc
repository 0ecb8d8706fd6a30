// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/kernels/reduction_kernels.h"

#include <cstring>

// This file is compiled once for each instruction set: foreach_target.h
// includes it again and again, with HWY_NAMESPACE naming the set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transport_ubt/kernels/reduction_kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

// Highway converts float16 with rounding only where the hardware does.
#undef UBT_HARDWARE_FLOAT16
#if HWY_ARCH_ARM || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2)
#define UBT_HARDWARE_FLOAT16 1
#else
#define UBT_HARDWARE_FLOAT16 0
#endif

HWY_BEFORE_NAMESPACE();
namespace ubt {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using U32 = hn::RebindToUnsigned<F32>;
using I32 = hn::RebindToSigned<F32>;
using U16 = hn::Rebind<uint16_t, F32>;
using VF32 = hn::Vec<F32>;
using VU32 = hn::Vec<U32>;

// Every format below has: Real (the type its arithmetic is in), Stored (one
// element in memory), Vector (some elements, ready for arithmetic), lanes(),
// load, store, add and multiply.

template <typename T>
struct Plain {
  using Real = T;
  using Stored = T;
  using Tag = hn::ScalableTag<T>;
  using Vector = hn::Vec<Tag>;

  static HWY_INLINE size_t lanes() { return hn::Lanes(Tag()); }
  static HWY_INLINE Vector load(const Stored* from) {
    return hn::LoadU(Tag(), from);
  }
  static HWY_INLINE void store(Vector v, Stored* to) {
    hn::StoreU(v, Tag(), to);
  }
  static HWY_INLINE Vector add(Vector a, Vector b) { return hn::Add(a, b); }
  static HWY_INLINE Vector multiply(Vector a, Real factor) {
    return hn::Mul(a, hn::Set(Tag(), factor));
  }
};

// A bfloat16 is the upper half of a float32, so a 32-bit lane that holds two of
// them holds one in place and one that needs a shift: nothing is unpacked.
struct Bfloat16 {
  using Real = float;
  using Stored = uint16_t;
  struct Vector {
    VF32 even;
    VF32 odd;
  };

  static HWY_INLINE size_t lanes() { return 2 * hn::Lanes(F32()); }

  static HWY_INLINE Vector load(const Stored* from) {
    const VU32 pairs = loadPairs(from);
    return {hn::BitCast(F32(), hn::ShiftLeft<16>(pairs)),
            hn::BitCast(F32(), hn::And(pairs, hn::Set(U32(), 0xffff0000u)))};
  }

  static HWY_INLINE void store(Vector v, Stored* to) {
    const VU32 even = hn::ShiftRight<16>(round(v.even));
    const VU32 odd = hn::And(round(v.odd), hn::Set(U32(), 0xffff0000u));
    storePairs(hn::Or(even, odd), to);
  }

  static HWY_INLINE Vector add(Vector a, Vector b) {
    return {hn::Add(a.even, b.even), hn::Add(a.odd, b.odd)};
  }
  static HWY_INLINE Vector multiply(Vector a, Real factor) {
    const auto factors = hn::Set(F32(), factor);
    return {hn::Mul(a.even, factors), hn::Mul(a.odd, factors)};
  }

 private:
#if HWY_TARGET == HWY_SCALAR  // a "vector" of 32 bits does not exist as 16s
  static HWY_INLINE VU32 loadPairs(const Stored* from) {
    uint32_t pair;
    std::memcpy(&pair, from, sizeof(pair));
    return hn::Set(U32(), pair);
  }
  static HWY_INLINE void storePairs(VU32 v, Stored* to) {
    const uint32_t pair = hn::GetLane(v);
    std::memcpy(to, &pair, sizeof(pair));
  }
#else
  using Halves = hn::Repartition<uint16_t, F32>;
  static HWY_INLINE VU32 loadPairs(const Stored* from) {
    return hn::BitCast(U32(), hn::LoadU(Halves(), from));
  }
  static HWY_INLINE void storePairs(VU32 v, Stored* to) {
    hn::StoreU(hn::BitCast(Halves(), v), Halves(), to);
  }
#endif

  // The upper 16 bits are the result; what is below them is to be ignored.
  static HWY_INLINE VU32 round(VF32 v) {
    const U32 du;
    const VU32 bits = hn::BitCast(du, v);
    const VU32 odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    const VU32 rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fff)));
    // Rounding could carry a NaN into infinity.
    const VU32 quiet = hn::Or(bits, hn::Set(du, 0x400000));
    const auto nan = hn::RebindMask(du, hn::IsNaN(v));
    return hn::IfThenElse(nan, quiet, rounded);
  }
};

// What both implementations of float16 share.
struct Float16Arithmetic {
  using Real = float;
  using Stored = uint16_t;
  using Vector = VF32;

  static HWY_INLINE size_t lanes() { return hn::Lanes(F32()); }
  static HWY_INLINE Vector add(Vector a, Vector b) { return hn::Add(a, b); }
  static HWY_INLINE Vector multiply(Vector a, Real factor) {
    return hn::Mul(a, hn::Set(F32(), factor));
  }
};

#if UBT_HARDWARE_FLOAT16

struct Float16 : Float16Arithmetic {
  using F16 = hn::Rebind<hwy::float16_t, F32>;

  static HWY_INLINE VF32 load(const Stored* from) {
    return hn::PromoteTo(
        F32(), hn::LoadU(F16(), reinterpret_cast<const hwy::float16_t*>(from)));
  }
  static HWY_INLINE void store(VF32 v, Stored* to) {
    hn::StoreU(
        hn::DemoteTo(F16(), v), F16(), reinterpret_cast<hwy::float16_t*>(to));
  }
};

#else

// float16 has 5 bits of exponent (bias 15) and 10 of mantissa; float32 has 8
// (bias 127) and 23.
struct Float16 : Float16Arithmetic {
  static constexpr uint32_t kExponentBias = 127 - 15;
  static constexpr uint32_t kMantissaBits = 23 - 10;

  static HWY_INLINE VF32 load(const Stored* from) {
    const U32 du;
    const VU32 half = hn::PromoteTo(du, hn::LoadU(U16(), from));
    const VU32 sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(du, 0x8000)));
    const VU32 exponent = hn::And(half, hn::Set(du, 0x7c00));
    const VU32 shifted =
        hn::ShiftLeft<kMantissaBits>(hn::And(half, hn::Set(du, 0x7fff)));
    const VU32 normal = hn::Add(shifted, hn::Set(du, kExponentBias << 23));
    // Infinity and NaN: the largest exponent stays the largest.
    const VU32 special = hn::Or(shifted, hn::Set(du, 0xffu << 23));
    // Subnormal: put the mantissa under a 1, then take the 1 away.
    const VU32 one = hn::Set(du, (kExponentBias + 1) << 23);
    const VU32 subnormal =
        hn::BitCast(du,
                    hn::Sub(hn::BitCast(F32(), hn::Or(shifted, one)),
                            hn::BitCast(F32(), one)));
    VU32 bits =
        hn::IfThenElse(hn::Eq(exponent, hn::Set(du, 0x7c00)), special, normal);
    bits = hn::IfThenElse(hn::Eq(exponent, hn::Zero(du)), subnormal, bits);
    return hn::BitCast(F32(), hn::Or(bits, sign));
  }

  static HWY_INLINE void store(VF32 v, Stored* to) {
    const U32 du;
    const VU32 bits = hn::BitCast(du, v);
    const VU32 magnitude = hn::And(bits, hn::Set(du, 0x7fffffff));
    const VU32 sign =
        hn::ShiftRight<16>(hn::And(bits, hn::Set(du, 0x80000000u)));
    const VU32 odd =
        hn::And(hn::ShiftRight<kMantissaBits>(magnitude), hn::Set(du, 1));
    const VU32 normal = hn::ShiftRight<kMantissaBits>(
        hn::Add(hn::Sub(magnitude, hn::Set(du, kExponentBias << 23)),
                hn::Add(odd, hn::Set(du, (1u << (kMantissaBits - 1)) - 1))));
    // Subnormal: adding 2^-1 leaves 10 + 14 bits below the binary point, so
    // that the addition itself does the rounding.
    const VU32 anchor = hn::Set(du, (kExponentBias + kMantissaBits + 1) << 23);
    const VU32 subnormal = hn::Sub(
        hn::BitCast(
            du,
            hn::Add(hn::BitCast(F32(), magnitude), hn::BitCast(F32(), anchor))),
        anchor);
    const VU32 smallestNormal = hn::Set(du, (kExponentBias + 1) << 23);
    const VU32 largestPlusOne = hn::Set(du, (127u + 16u) << 23);
    VU32 half =
        hn::IfThenElse(hn::Lt(magnitude, smallestNormal), subnormal, normal);
    half = hn::IfThenElse(
        hn::Lt(magnitude, largestPlusOne), half, hn::Set(du, 0x7c00));
    half = hn::IfThenElse(
        hn::RebindMask(du, hn::IsNaN(v)), hn::Set(du, 0x7e00), half);
    const auto narrow =
        hn::DemoteTo(U16(), hn::BitCast(I32(), hn::Or(half, sign)));
    hn::StoreU(narrow, U16(), to);
  }
};

#endif  // UBT_HARDWARE_FLOAT16

// Each operation combines one vector of the destination with one of the
// source; `scale` reads the destination as its own source.

template <typename Format>
struct AddOne {
  using Stored = typename Format::Stored;
  HWY_INLINE void operator()(Stored* to, const Stored* from) const {
    Format::store(Format::add(Format::load(to), Format::load(from)), to);
  }
};

template <typename Format>
struct ScaleOne {
  using Stored = typename Format::Stored;
  typename Format::Real factor;
  HWY_INLINE void operator()(Stored* to, const Stored*) const {
    Format::store(Format::multiply(Format::load(to), factor), to);
  }
};

template <typename Format, typename One>
HWY_INLINE void forEach(const One& one,
                        void* destination,
                        const void* source,
                        size_t count) {
  using Stored = typename Format::Stored;
  // Plain pointers into packets: LoadU and StoreU need no alignment at all.
  auto* to = static_cast<Stored*>(destination);
  const auto* from = static_cast<const Stored*>(source);
  const size_t lanes = Format::lanes();
  size_t i = 0;
  for (; count - i >= 4 * lanes; i += 4 * lanes) {
    one(to + i, from + i);
    one(to + i + lanes, from + i + lanes);
    one(to + i + 2 * lanes, from + i + 2 * lanes);
    one(to + i + 3 * lanes, from + i + 3 * lanes);
  }
  for (; count - i >= lanes; i += lanes) {
    one(to + i, from + i);
  }
  if (i < count) {
    Stored paddedTo[HWY_MAX_BYTES / sizeof(Stored)] = {};
    Stored paddedFrom[HWY_MAX_BYTES / sizeof(Stored)] = {};
    const size_t bytes = (count - i) * sizeof(Stored);
    std::memcpy(paddedTo, to + i, bytes);
    std::memcpy(paddedFrom, from + i, bytes);
    one(paddedTo, paddedFrom);
    std::memcpy(to + i, paddedTo, bytes);
  }
}

template <typename Format>
HWY_INLINE void addAs(void* destination, const void* source, size_t count) {
  forEach<Format>(AddOne<Format>(), destination, source, count);
}

template <typename Format>
HWY_INLINE void scaleAs(void* data, double factor, size_t count) {
  using Real = typename Format::Real;
  const ScaleOne<Format> one{static_cast<Real>(factor)};
  forEach<Format>(one, data, data, count);
}

void add(ElementType type,
         void* destination,
         const void* source,
         size_t count) {
  switch (type) {
    case ElementType::kFloat32:
      return addAs<Plain<float>>(destination, source, count);
    case ElementType::kFloat64:
      return addAs<Plain<double>>(destination, source, count);
    case ElementType::kFloat16:
      return addAs<Float16>(destination, source, count);
    case ElementType::kBfloat16:
      return addAs<Bfloat16>(destination, source, count);
  }
}

void scale(ElementType type, void* data, double factor, size_t count) {
  switch (type) {
    case ElementType::kFloat32:
      return scaleAs<Plain<float>>(data, factor, count);
    case ElementType::kFloat64:
      return scaleAs<Plain<double>>(data, factor, count);
    case ElementType::kFloat16:
      return scaleAs<Float16>(data, factor, count);
    case ElementType::kBfloat16:
      return scaleAs<Bfloat16>(data, factor, count);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ubt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace ubt {
namespace {

HWY_EXPORT(add);
HWY_EXPORT(scale);

void dispatchAdd(ElementType type,
                 void* destination,
                 const void* source,
                 size_t count) {
  HWY_DYNAMIC_DISPATCH(add)(type, destination, source, count);
}

void dispatchScale(ElementType type, void* data, double factor, size_t count) {
  HWY_DYNAMIC_DISPATCH(scale)(type, data, factor, count);
}

}  // namespace

const Reduction& reductionKernels() {
  static constexpr Reduction kKernels = {&dispatchAdd, &dispatchScale};
  return kKernels;
}

}  // namespace ubt

#endif  // HWY_ONCE
