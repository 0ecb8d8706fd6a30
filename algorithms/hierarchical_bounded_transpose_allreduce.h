// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>

#include "algorithms/bounded_transpose_allreduce.h"
#include "algorithms/hierarchical_transpose_allreduce.h"

namespace gloo {

// Hierarchical (2D) Bounded Transpose AllReduce (OptiReduce, NSDI'25): the
// transpose of hierarchical_transpose_allreduce.h over the unreliable,
// time-bounded path of a ubt device. Eligible is what is to
// boundedTransposeAllreduce(); everything else runs exactly, in the same
// groups. Groups are those of GLOO_UBT_GROUPS, on which the context's ranks
// have agreed when they connected; where hosts have unlike numbers of ranks,
// `host` makes one group of all, with a warning (docs/semantics.md).
//
// Throws as boundedTransposeAllreduce(), or, on all ranks alike, what
// agreedGroups() throws.

// Options form.
BoundedReport hierarchicalBoundedTransposeAllreduce(
    const AllreduceOptions& options);

// Class form: as BoundedTransposeAllreduce.
template <typename T>
class HierarchicalBoundedTransposeAllreduce
    : public detail::
          BoundedAllreduce<T, HierarchicalTransposeAllreduce<T>, true> {
 public:
  using detail::BoundedAllreduce<T, HierarchicalTransposeAllreduce<T>, true>::
      BoundedAllreduce;
};

}  // namespace gloo
