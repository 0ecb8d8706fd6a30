// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/algorithm.h>
#include <gloo/allreduce.h>
#include <gloo/types.h>

#include <cstddef>
#include <optional>
#include <type_traits>

#include "transport_ubt/core/base/element_type.h"

// Which allreduces take the bounded path: floating-point sums of at least the
// smallest size (GLOO_UBT_MIN_BYTES). All ranks must come to the same answer,
// so it depends only on values that are equal on all ranks. The wire format has
// limits as well: ubt::Channel::takes().

namespace gloo {

// The type that a reduction sums, if a bounded allreduce can sum it; empty
// otherwise. Gloo's options have a reduction only as an opaque function and an
// element size. So this calls it on eight elements of scratch memory, whose sum
// shows the type.
std::optional<ubt::ElementType> summedType(const AllreduceOptions::Func& reduce,
                                           size_t elementSize);

// Options form: the type to sum, if the call is eligible.
std::optional<ubt::ElementType> eligibleType(
    const detail::AllreduceOptionsImpl& options, size_t bytesMin);

namespace detail {

// The kernels' ElementType for T, if they can sum it.
template <typename T>
struct SummableType : std::false_type {};

template <>
struct SummableType<float> : std::true_type {
  static constexpr auto kType = ubt::ElementType::kFloat32;
};

template <>
struct SummableType<double> : std::true_type {
  static constexpr auto kType = ubt::ElementType::kFloat64;
};

template <>
struct SummableType<float16> : std::true_type {
  static constexpr auto kType = ubt::ElementType::kFloat16;
};

}  // namespace detail

// Class form: whether `count` elements that `fn` reduces are eligible.
template <typename T>
bool isEligible(const ReductionFunction<T>& fn, size_t count, size_t bytesMin) {
  return detail::SummableType<T>::value && fn.type() == SUM && count > 0 &&
         count * sizeof(T) >= bytesMin;
}

}  // namespace gloo
