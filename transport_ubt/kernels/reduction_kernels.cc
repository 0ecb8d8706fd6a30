// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/kernels/reduction_kernels.h"

#include <cstring>

// This file is compiled once for each instruction set: foreach_target.h
// includes it repeatedly, and HWY_NAMESPACE names the set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transport_ubt/kernels/reduction_kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "transport_ubt/kernels/formats-inl.h"
#include "transport_ubt/kernels/hadamard.h"

HWY_BEFORE_NAMESPACE();
namespace ubt {
namespace HWY_NAMESPACE {

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
  // Pointers into packets: LoadU and StoreU need no alignment.
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
  static constexpr Reduction kKernels = {
      &dispatchAdd, &dispatchScale, &hadamardTransform, &hadamardInverse};
  return kKernels;
}

}  // namespace ubt

#endif  // HWY_ONCE
