// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/algorithm.h>
#include <gloo/allreduce.h>
#include <gloo/common/logging.h>
#include <gloo/math.h>
#include <gloo/types.h>

#include <memory>
#include <type_traits>
#include <vector>

#include "algorithms/transpose_exchange.h"
#include "transport_ubt/kernels/reduction_kernels.h"

namespace gloo {

// Transpose allreduce, exact, over any Gloo transport.
//
// Every rank owns one shard of the elements. Scatter stage: every rank sends
// each owner its contribution to that owner's shard, and an owner reduces what
// it gets. Broadcast stage: every owner sends its reduced shard to all. So each
// byte takes two hops, whatever the number of ranks, where a ring takes
// 2 (N - 1): a small allreduce is faster, and a slow link delays only what
// crosses it.
//
// An owner reduces contributions in rank order (within a rank, in the order of
// its inputs). All ranks get the same bits, and two runs as well: the result is
// that of a plain loop over the ranks.
//
// Both forms below throw what Gloo's own collectives throw: EnforceNotMet for
// arguments that make no sense, IoException when a peer fails or time is up.

// Options form. Honours context, inputs, outputs (in-place when there are no
// inputs), reduce function, tag, timeout (for the whole operation; zero: none)
// and maximum segment size; an algorithm that was chosen is ignored. Operations
// that run at once on one context need different tags, as in Gloo. A rank that
// brings another number or size of elements is never heard: the others time
// out.
void transposeAllreduce(const AllreduceOptions& options);

namespace detail {

// The kernels' name for T, for the types that they can sum.
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

// Gloo's classes take a count as an int.
inline size_t elementCount(int count) {
  GLOO_ENFORCE_GE(count, 0, "a negative number of elements");
  return static_cast<size_t>(count);
}

// x[i] = fn(x[i], y[i]). `fn` must outlive the result.
template <typename T>
ReduceInto reduceInto(const ReductionFunction<T>* fn) {
  if constexpr (SummableType<T>::value) {
    if (fn->type() == SUM) {
      return [](void* x, const void* y, size_t count) {
        ubt::reductionKernels().add(SummableType<T>::kType, x, y, count);
      };
    }
  }
  return [fn](void* x, const void* y, size_t count) {
    fn->call(static_cast<T*>(x), static_cast<const T*>(y), count);
  };
}

// `fn` must outlive the result.
template <typename T>
TransposeElements transposeElements(const std::vector<T*>& ptrs,
                                    int count,
                                    const ReductionFunction<T>* fn) {
  static_assert(
      std::is_trivially_copyable<T>::value || std::is_same<T, float16>::value,
      "elements travel as bytes");
  return {std::vector<void*>(ptrs.begin(), ptrs.end()),
          elementCount(count),
          sizeof(T),
          reduceInto<T>(fn)};
}

}  // namespace detail

// Class form, for a buffer that is reduced again and again: it sends into
// memory that the receiver has set aside, so nothing is negotiated per run.
// Results land in all of `ptrs`. As with Gloo's classes, all ranks must
// construct their algorithms on a context in the same order, with the same
// count and function; `ptrs` must outlive the object; one thread runs it.
// Where counts differ all the same, the first run() throws an IoException that
// names two ranks and what they bring.
template <typename T>
class TransposeAllreduce : public Algorithm {
 public:
  TransposeAllreduce(const std::shared_ptr<Context>& context,
                     const std::vector<T*>& ptrs,
                     const int count,
                     const ReductionFunction<T>* fn = ReductionFunction<T>::sum)
      : Algorithm(context),
        exchange_(context, detail::transposeElements<T>(ptrs, count, fn)) {}

  void run() override { exchange_.run(); }

 private:
  TransposeExchange exchange_;
};

}  // namespace gloo
