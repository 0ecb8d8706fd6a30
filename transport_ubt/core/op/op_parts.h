// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "transport_ubt/core/base/rank_groups.h"
#include "transport_ubt/core/op/op_ranks.h"
#include "transport_ubt/core/op/shard_layout.h"
#include "transport_ubt/core/wire/op_id.h"

namespace ubt {

// How an op divides among its ranks: the roles of ranks, and the shards and
// slots of the bucket. A function of the shape and the context alone.
struct OpParts {
  // Ranks and slots of a context.
  struct Context {
    int rank = 0;
    int size = 1;
    size_t slotBytesMax = 0;
    // The groups of hierarchical ops, all of one size; null: none. They must
    // outlive this.
    const RankGroups* groups = nullptr;
  };

  OpParts(const OpShape& shape, const Context& context)
      : ranks(context.rank,
              context.size,
              shape.hierarchical() ? context.groups : nullptr),
        layout(shape, ranks.members(), context.slotBytesMax) {}

  // The own shard.
  Shard own() const { return ranks.shard(); }

  OpRanks ranks;
  ShardLayout layout;
};

}  // namespace ubt
