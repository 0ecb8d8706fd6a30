// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/algorithm.h>
#include <gloo/allreduce.h>
#include <gloo/math.h>

#include <memory>
#include <vector>

#include "algorithms/rank_groups.h"
#include "algorithms/transpose_allreduce.h"

namespace gloo {

// Hierarchical (2D) transpose allreduce, exact, over any Gloo transport
// (OptiReduce, NSDI'25): the transpose of transpose_allreduce.h for many ranks,
// where messages between all pairs would cost too much.
//
// The N ranks form G groups. There are as many shards as a group has members.
// Scatter stage: within its group, every rank sends each owner its contribution
// to that owner's shard, and the owner reduces the contributions. Exchange
// stage: the owners of a shard, one in each group, send each other their
// groups' sums of it. Each owner reduces these sums in the order of the groups.
// Broadcast stage: every owner sends the result to its group.
//
// If all groups have one size, the costs for each rank are:
//
//                             messages per segment      peers
//   hierarchical transpose    2 (N/G - 1) + (G - 1)     N/G + G - 2
//   plain transpose           2 (N - 1), smaller        N - 1
//
// One group is a plain transpose. With N groups each rank sends all its
// elements to each other rank.
//
// GLOO_UBT_GROUPS says how groups are formed (docs/configuration.md): equal
// groups of neighbouring ranks, or one group for each host, of any size. If
// groups differ in size, there are as many shards as the largest has members,
// and members of smaller groups own several.
//
// A group's sum is reduced in rank order, and the result in the order of the
// groups. So all ranks get the same bits, in every run. Roundings differ from
// those of a plain loop over the ranks. The function need not commute if groups
// are neighbouring ranks. Equal groups always are; host groups may not be.
//
// Ranks agree on groups in the first call (options form: in the first on a
// context), which costs a round trip. On all ranks it throws IoException that
// names two ranks which want different groups, or InvalidOperationException
// that names a number of groups which does not divide the ranks. Otherwise both
// forms throw like the transpose's.

// Options form, like transposeAllreduce().
void hierarchicalTransposeAllreduce(const AllreduceOptions& options);

// Uses these groups of the context's ranks, without an agreement. REQUIRES: the
// same groups on all ranks.
void hierarchicalTransposeAllreduce(const AllreduceOptions& options,
                                    const RankGroups& groups);

// The groups that this rank wants: those of the context's device if that is a
// ubt device, or else those of the environment. Throws like
// Settings::fromEnvironment().
GroupWish groupWish(Context& context);

// Class form, like TransposeAllreduce. On synchronous pairs the largest group
// may have at most five times as many ranks as the smallest, because the
// buffers of sockets cannot hold more messages.
template <typename T>
class HierarchicalTransposeAllreduce : public Algorithm {
 public:
  HierarchicalTransposeAllreduce(
      const std::shared_ptr<Context>& context,
      const std::vector<T*>& ptrs,
      const int count,
      const ReductionFunction<T>* fn = ReductionFunction<T>::sum)
      : HierarchicalTransposeAllreduce(
            context, ptrs, count, fn, groupWish(*context)) {}

  HierarchicalTransposeAllreduce(const std::shared_ptr<Context>& context,
                                 const std::vector<T*>& ptrs,
                                 const int count,
                                 const ReductionFunction<T>* fn,
                                 const GroupWish& wish)
      : Algorithm(context),
        exchange_(
            context, detail::transposeElements<T>(ptrs, count, fn), wish) {}

  void run() override { exchange_.run(); }

 private:
  TransposeExchange exchange_;
};

}  // namespace gloo
