// SPDX-License-Identifier: Apache-2.0
#include "algorithms/segment_layout.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace gloo {
namespace {

TEST(SegmentLayout, firstShardsAreLonger) {
  const SegmentLayout layout(10, 4, 100);
  EXPECT_EQ(0u, layout.shard(0).offset);
  EXPECT_EQ(3u, layout.shard(0).count);
  EXPECT_EQ(3u, layout.shard(1).offset);
  EXPECT_EQ(6u, layout.shard(2).offset);
  EXPECT_EQ(2u, layout.shard(3).count);
  EXPECT_EQ(1u, layout.segments());
}

TEST(SegmentLayout, fewerElementsThanRanks) {
  const SegmentLayout layout(2, 4, 100);
  EXPECT_EQ(1u, layout.shard(1).count);
  EXPECT_EQ(0u, layout.shard(2).count);
  EXPECT_EQ(0u, layout.segment(3, 0).count);
}

TEST(SegmentLayout, nothing) {
  const SegmentLayout layout(0, 4, 100);
  EXPECT_EQ(0u, layout.segments());
  EXPECT_EQ(0u, layout.shard(3).count);
}

RC_GTEST_PROP(SegmentLayout, segmentsCoverEverythingOnceAndInOrder, ()) {
  const size_t elements = *rc::gen::inRange(0, 5000);
  const int ranks = *rc::gen::inRange(1, 70);
  const size_t segmentMax = *rc::gen::inRange(1, 300);
  const SegmentLayout layout(elements, ranks, segmentMax);
  size_t next = 0;
  for (int rank = 0; rank < ranks; rank++) {
    RC_ASSERT(layout.shard(rank).offset == next);
    RC_ASSERT(layout.shard(rank).count <= layout.longestShard());
    RC_ASSERT(layout.shard(rank).count + 1 >= layout.longestShard());
    for (size_t i = 0; i < layout.segments(); i++) {
      const auto segment = layout.segment(rank, i);
      RC_ASSERT(segment.offset == next);
      RC_ASSERT(segment.count <= layout.segmentElements());
      next += segment.count;
    }
  }
  RC_ASSERT(layout.segmentElements() <= segmentMax);
  RC_ASSERT(next == elements);
}

}  // namespace
}  // namespace gloo
