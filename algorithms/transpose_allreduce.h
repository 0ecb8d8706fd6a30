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

#include "algorithms/eligibility.h"
#include "algorithms/transpose_exchange.h"
#include "transport_ubt/kernels/reduction_kernels.h"

namespace gloo {

// Transpose allreduce, exact, over any Gloo transport.
//
// Every rank owns one shard of the elements. Scatter stage: every rank sends
// each owner its contribution to that owner's shard, and the owner reduces the
// contributions. Broadcast stage: every owner sends its reduced shard to all.
// So each byte takes two hops for any number of ranks. In a ring it takes 2 (N
// - 1). A small allreduce is faster, and a slow link delays only the bytes that
// cross it.
//
// An owner reduces contributions in rank order (within a rank, in the order of
// its inputs). So the result is that of a plain loop over the ranks: all ranks
// get the same bits, in every run.
//
// Both forms below throw like Gloo's own collectives: EnforceNotMet for invalid
// arguments, IoException when a peer fails or time is up.

// Options form. Uses context, inputs, outputs (in place if there are no
// inputs), reduce function, tag, timeout (for the whole operation; zero: none)
// and maximum segment size. Ignores the chosen algorithm. As in Gloo,
// operations that run at once on one context need different tags. If a rank
// brings another number or size of elements, its messages find no receive, and
// the other ranks time out.
void transposeAllreduce(const AllreduceOptions& options);

namespace detail {

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

// Class form. Use it if a buffer is reduced repeatedly: it sends into memory
// that the receiver has reserved, so nothing is negotiated per run. Results go
// to all of `ptrs`. As with Gloo's classes, all ranks must construct their
// algorithms on a context in the same order, with the same count and function;
// `ptrs` must outlive the object; one thread runs it. If counts differ, the
// first run() throws an IoException that names two ranks and their elements.
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
