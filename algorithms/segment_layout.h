// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "transport_ubt/core/base/require.h"

namespace gloo {

// Divides the elements of an allreduce into one shard for each rank, and each
// shard into segments, the units of transfer. Units are elements.
//
// 1. The shards cover [0, elements) in rank order, without gap or overlap.
// 2. Shard lengths differ by one at most; with fewer elements than ranks, the
//    last ranks' shards are empty.
// 3. Every shard has the same number of segments. All but the last are full;
//    the last may be shorter, or empty in some shards only.
class SegmentLayout {
 public:
  struct Range {
    size_t offset;
    size_t count;
  };

  // REQUIRES: ranks > 0, segmentElementsMax > 0.
  SegmentLayout(size_t elements, int ranks, size_t segmentElementsMax)
      : base_((UBT_REQUIRE(ranks > 0 && segmentElementsMax > 0),
               elements / ranks)),
        longer_(elements % ranks),
        segmentElements_(
            std::min(std::max<size_t>(longestShard(), 1), segmentElementsMax)),
        segments_((longestShard() + segmentElements_ - 1) / segmentElements_) {}

  Range shard(int rank) const {
    const size_t index = rank;
    return {index * base_ + std::min(index, longer_),
            base_ + (index < longer_ ? 1 : 0)};
  }

  // The shards from `first` to before `end`. REQUIRES: first < end.
  Range shards(int first, int end) const {
    UBT_REQUIRE(first < end);
    const Range last = shard(end - 1);
    const size_t offset = shard(first).offset;
    return {offset, last.offset + last.count - offset};
  }

  Range segment(int rank, size_t index) const {
    const Range whole = shard(rank);
    const size_t begin = std::min(index * segmentElements_, whole.count);
    const size_t end = std::min(begin + segmentElements_, whole.count);
    return {whole.offset + begin, end - begin};
  }

  size_t longestShard() const { return base_ + (longer_ ? 1 : 0); }
  size_t segmentElements() const { return segmentElements_; }
  size_t segments() const { return segments_; }

 private:
  const size_t base_;
  const size_t longer_;  // this many shards have one element more than base_
  const size_t segmentElements_;
  const size_t segments_;
};

}  // namespace gloo
