// SPDX-License-Identifier: Apache-2.0
//
// Loads elements of each ElementType into vectors, and stores them.
//
// Include this after highway.h, outside of any namespace, in a file that
// Highway compiles once for each instruction set. It is read again for each
// set, so its only include guard is Highway's.
#if defined(TRANSPORT_UBT_KERNELS_FORMATS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRANSPORT_UBT_KERNELS_FORMATS_INL_H_
#undef TRANSPORT_UBT_KERNELS_FORMATS_INL_H_
#else
#define TRANSPORT_UBT_KERNELS_FORMATS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>

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

// Every format below has: Real (the type of its arithmetic), Tag (of a vector
// of Reals), Stored (one element in memory), Vector (some elements, ready for
// arithmetic), lanes(), load, store, add and multiply. A Vector consists of
// kParts vectors of Reals; part<> gives one of them.

template <typename T>
struct Plain {
  using Real = T;
  using Stored = T;
  using Tag = hn::ScalableTag<T>;
  using Vector = hn::Vec<Tag>;
  static constexpr size_t kParts = 1;

  static HWY_INLINE size_t lanes() { return hn::Lanes(Tag()); }
  template <size_t kPart>
  static HWY_INLINE Vector part(Vector v) {
    return v;
  }
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

// A bfloat16 is the upper half of a float32. So a 32-bit lane that holds two of
// them holds one in place, and one that needs a shift. Nothing is unpacked.
struct Bfloat16 {
  using Real = float;
  using Tag = F32;
  using Stored = uint16_t;
  struct Vector {
    VF32 even;
    VF32 odd;
  };
  static constexpr size_t kParts = 2;

  static HWY_INLINE size_t lanes() { return 2 * hn::Lanes(F32()); }
  template <size_t kPart>
  static HWY_INLINE VF32 part(Vector v) {
    return kPart == 0 ? v.even : v.odd;
  }

  static HWY_INLINE Vector load(const Stored* from) {
    const VU32 pairs = loadPairs(from);
    return {hn::BitCast(F32(), hn::ShiftLeft<16>(pairs)),
            hn::BitCast(F32(), hn::And(pairs, hn::Set(U32(), 0xffff0000u)))};
  }

  // Rounds to nearest, ties to even. A NaN needs no special case: if arithmetic
  // on bfloat16s makes one, the bits that are rounded away are zero.
  static HWY_INLINE void store(Vector v, Stored* to) {
    storeRounded(hn::BitCast(U32(), v.even), hn::BitCast(U32(), v.odd), to);
  }

  static HWY_INLINE Vector add(Vector a, Vector b) {
    return {hn::Add(a.even, b.even), hn::Add(a.odd, b.odd)};
  }
  static HWY_INLINE Vector multiply(Vector a, Real factor) {
    const auto factors = hn::Set(F32(), factor);
    return {hn::Mul(a.even, factors), hn::Mul(a.odd, factors)};
  }

 private:
#if HWY_TARGET == HWY_SCALAR  // a 32-bit "vector" has no 16-bit lanes
  static HWY_INLINE VU32 loadPairs(const Stored* from) {
    uint32_t pair;
    std::memcpy(&pair, from, sizeof(pair));
    return hn::Set(U32(), pair);
  }
  static HWY_INLINE uint32_t rounded(VU32 v) {
    const uint32_t bits = hn::GetLane(v);
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  }
  static HWY_INLINE void storeRounded(VU32 even, VU32 odd, Stored* to) {
    const uint32_t pair = rounded(even) | rounded(odd) << 16;
    std::memcpy(to, &pair, sizeof(pair));
  }
#else
  using Halves = hn::Repartition<uint16_t, F32>;
  static HWY_INLINE VU32 loadPairs(const Stored* from) {
    return hn::BitCast(U32(), hn::LoadU(Halves(), from));
  }
  // Rounds in 16-bit lanes: a vector has twice as many of these.
  static HWY_INLINE void storeRounded(VU32 even, VU32 odd, Stored* to) {
    const Halves d;
    const auto kept = hn::OddEven(hn::BitCast(d, odd),
                                  hn::BitCast(d, hn::ShiftRight<16>(even)));
    const auto lost = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(odd)),
                                  hn::BitCast(d, even));
    // Half a unit, 0x8000, is rounded up only if the kept bits are odd.
    const auto keptIsEven = hn::AndNot(kept, hn::Set(d, 1));
    const auto up = hn::ShiftRight<15>(hn::SaturatedSub(lost, keptIsEven));
    hn::StoreU(hn::Add(kept, up), d, to);
  }
#endif
};

// The common part of both implementations of float16.
struct Float16Arithmetic {
  using Real = float;
  using Tag = F32;
  using Stored = uint16_t;
  using Vector = VF32;
  static constexpr size_t kParts = 1;

  static HWY_INLINE size_t lanes() { return hn::Lanes(F32()); }
  template <size_t kPart>
  static HWY_INLINE Vector part(Vector v) {
    return v;
  }
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

}  // namespace HWY_NAMESPACE
}  // namespace ubt
HWY_AFTER_NAMESPACE();

#endif  // TRANSPORT_UBT_KERNELS_FORMATS_INL_H_
