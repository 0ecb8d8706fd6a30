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
// (OptiReduce, NSDI'25): the transpose of transpose_allreduce.h for so many
// ranks that each cannot well talk to each.
//
// The N ranks form G groups; there are as many shards as a group has members.
// Scatter stage: within its group, every rank sends each owner its contribution
// to that owner's shard, and an owner reduces what it gets. Exchange stage: the
// owners of a shard, one in each group, send their groups' sums of it to each
// other, and each reduces them, in the groups' order. Broadcast stage: every
// owner sends the result to its group. With groups of one size these are
// 2 (N / G - 1) + (G - 1) messages for each rank and segment, each a shard's
// part, where a plain transpose has 2 (N - 1) smaller ones; and a rank has
// N / G + G - 2 peers instead of N - 1. One group makes a plain transpose; as
// many groups as ranks make each send all it has to each.
//
// How groups are formed, GLOO_UBT_GROUPS says (docs/configuration.md): equal
// ones of neighbouring ranks, or the ranks of each host, be they as many or
// not. Where groups differ in size there are as many shards as the largest has
// members, and members of smaller groups own several.
//
// A result is the groups' sums reduced in the order of the groups, each that of
// its members in rank order: all ranks get the same bits, two runs as well. The
// roundings are others than those of a plain loop over the ranks. The function
// need not commute if groups are neighbours, as all but hosts' always are.
//
// Ranks agree on groups in the first call (options form: in the first on a
// context), which costs a round trip. It throws IoException that names two
// ranks which want other groups, or InvalidOperationException that names a
// number of groups which does not divide the ranks, on all ranks alike.
// Otherwise both forms throw as the transpose's.

// Options form: as transposeAllreduce().
void hierarchicalTransposeAllreduce(const AllreduceOptions& options);

// In these groups of the context's ranks, which have to be the same on all;
// nothing is to be agreed on.
void hierarchicalTransposeAllreduce(const AllreduceOptions& options,
                                    const RankGroups& groups);

// What this rank would have for groups: as the device of the context is set, if
// that is a ubt device, or else as the environment says. Throws as
// Settings::fromEnvironment().
GroupWish groupWish(Context& context);

// Class form: as TransposeAllreduce. On synchronous pairs groups may differ in
// size by no more than a factor of five: sockets' buffers do not hold more.
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
