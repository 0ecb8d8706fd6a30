// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "algorithms/rank_groups.h"
#include "algorithms/segment_layout.h"

namespace gloo {

// Calls act(shard, range) for each message of one segment of `shards`, in
// order. Skips empty ranges.
template <typename Act>
void forSegments(const SegmentLayout& layout,
                 RankGroups::Shards shards,
                 size_t segment,
                 Act&& act) {
  for (int shard = shards.first; shard < shards.end; shard++) {
    const auto range = layout.segment(shard, segment);
    if (range.count > 0) {
      act(shard, range);
    }
  }
}

}  // namespace gloo
