// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/algorithm.h>
#include <gloo/allreduce.h>
#include <gloo/math.h>

#include <memory>
#include <optional>
#include <vector>

#include "algorithms/transpose_allreduce.h"
#include "transport_ubt/context.h"

namespace gloo {

// The report of a bounded allreduce. Empty if the call was not eligible and ran
// exactly, as the transpose over the reliable transport.
using BoundedReport = std::optional<ubt::OpReport>;

// Bounded Transpose AllReduce (OptiReduce, NSDI'25, sections 3.1 and 3.2): the
// transpose over the unreliable, time-bounded path of a ubt device.
// Contributions that miss the scatter stage's bound are left out of the sum,
// which is rescaled, and are reported. The call returns with every result, or
// throws at its timeout; with repair `none` it returns by a bound
// (docs/semantics.md).
//
// Eligible is a SUM over float, double, float16 or bfloat16 of at least the
// configured size and at most 2^32 - 1 elements, on a context of a ubt device.
// All ranks agree on that. Everything else runs exactly.
//
// Throws gloo::IoException that names a rank which died, disagrees or blocks
// all others; otherwise like transposeAllreduce().

// Options form. The reduction function tells the element type. As in Gloo, the
// first output may be one of the first two inputs, but no other.
BoundedReport boundedTransposeAllreduce(const AllreduceOptions& options);

namespace detail {

// The bounded path of a context; null if its device has none.
transport::ubt::Context* boundedContext(Context& context);

// The smallest bounded allreduce of the context, in bytes.
size_t boundedBytesMin(const transport::ubt::Context& context);

// Options form: runs an eligible call, in one group or hierarchically.
// Otherwise does nothing and returns an empty report.
BoundedReport boundedAllreduce(const AllreduceOptions& options,
                               bool hierarchical);

// Class form. `Exact` runs calls that are not eligible.
template <typename T, typename Exact, bool kHierarchical>
class BoundedAllreduce : public Algorithm {
 public:
  BoundedAllreduce(const std::shared_ptr<Context>& context,
                   const std::vector<T*>& ptrs,
                   const int count,
                   const ReductionFunction<T>* fn = ReductionFunction<T>::sum)
      : Algorithm(context),
        ptrs_(ptrs),
        count_(elementCount(count)),
        fn_(fn),
        // A slot is the same number on all ranks. As a tag it has a space of
        // its own. The exact form below takes other slots.
        tag_(static_cast<uint32_t>(context->nextSlot())) {
    GLOO_ENFORCE(!ptrs_.empty(), "no buffer to reduce");
    bounded_ = boundedContext(*context);
    if (bounded_ != nullptr &&
        !isEligible(*fn, count_, boundedBytesMin(*bounded_))) {
      bounded_ = nullptr;
    }
    if (bounded_ == nullptr) {
      exact_ = std::make_unique<Exact>(context, ptrs, count, fn);
    }
  }

  void run() override {
    if (bounded_ == nullptr) {
      exact_->run();
      return;
    }
    if constexpr (SummableType<T>::value) {
      for (size_t i = 1; i < ptrs_.size(); i++) {
        fn_->call(ptrs_[0], ptrs_[i], count_);
      }
      report_ = bounded_->allreduce(ubt::TagSpace::kClass,
                                    tag_,
                                    SummableType<T>::kType,
                                    ptrs_[0],
                                    count_,
                                    this->context_->getTimeout(),
                                    kHierarchical);
      for (size_t i = 1; i < ptrs_.size(); i++) {
        std::copy(ptrs_[0], ptrs_[0] + count_, ptrs_[i]);
      }
    }
  }

  // The report of the last run; empty if it ran exactly.
  const BoundedReport& report() const { return report_; }

 private:
  const std::vector<T*> ptrs_;
  const size_t count_;
  const ReductionFunction<T>* const fn_;
  const uint32_t tag_;
  transport::ubt::Context* bounded_ = nullptr;
  std::unique_ptr<Exact> exact_;
  BoundedReport report_;
};

}  // namespace detail

// Class form, shaped like Gloo's classes. As there, all ranks construct their
// algorithms on a context in the same order, with the same count and function;
// `ptrs` must outlive the object; one thread runs it.
template <typename T>
class BoundedTransposeAllreduce
    : public detail::BoundedAllreduce<T, TransposeAllreduce<T>, false> {
 public:
  using detail::BoundedAllreduce<T, TransposeAllreduce<T>, false>::
      BoundedAllreduce;
};

}  // namespace gloo
