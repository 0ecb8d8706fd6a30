// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "algorithms/rank_groups.h"
#include "algorithms/segment_layout.h"
#include "transport_ubt/core/base/require.h"

namespace gloo {

// Runs a rank's steps over the segments of a transpose. One segment is reduced
// while the next is on its way, and at most `window` are in flight at once. All
// ranks take the same steps in the same order, so no wait depends on a later
// step. `scatter`, `reduce` (which also sends the result on) and `receive` are
// called once for each segment, with its number. REQUIRES: 0 < window <=
// segments.
template <typename Scatter, typename Reduce, typename Receive>
void runSegments(size_t segments,
                 size_t window,
                 Scatter&& scatter,
                 Reduce&& reduce,
                 Receive&& receive) {
  UBT_REQUIRE(0 < window && window <= segments);
  const size_t lag = segments > 1 ? 1 : 0;
  for (size_t step = 0; step < segments + lag; step++) {
    if (step < segments) {
      if (step >= window) {
        receive(step - window);
      }
      scatter(step);
    }
    if (step >= lag) {
      reduce(step - lag);
    }
  }
  for (size_t segment = segments - window; segment < segments; segment++) {
    receive(segment);
  }
}

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
