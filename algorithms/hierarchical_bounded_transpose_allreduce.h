// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>

#include "algorithms/bounded_transpose_allreduce.h"
#include "algorithms/hierarchical_transpose_allreduce.h"

namespace gloo {

// Hierarchical (2D) Bounded Transpose AllReduce (OptiReduce, NSDI'25): the
// transpose of hierarchical_transpose_allreduce.h over the unreliable,
// time-bounded path of a ubt device. Calls are eligible as for
// boundedTransposeAllreduce(). All others run exactly, by
// hierarchicalTransposeAllreduce(). Groups are those of GLOO_UBT_GROUPS; the
// context's ranks agreed on them when they connected. If hosts have different
// numbers of ranks, `host` makes one group of all ranks, with a warning
// (docs/semantics.md).
//
// Throws like boundedTransposeAllreduce(), or, on all ranks, the exceptions of
// agreedGroups().

// Options form.
BoundedReport hierarchicalBoundedTransposeAllreduce(
    const AllreduceOptions& options);

// Class form, like BoundedTransposeAllreduce.
template <typename T>
class HierarchicalBoundedTransposeAllreduce
    : public detail::
          BoundedAllreduce<T, HierarchicalTransposeAllreduce<T>, true> {
 public:
  using detail::BoundedAllreduce<T, HierarchicalTransposeAllreduce<T>, true>::
      BoundedAllreduce;
};

}  // namespace gloo
