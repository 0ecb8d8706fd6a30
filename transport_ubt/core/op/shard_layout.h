// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/wire/op_id.h"

namespace ubt {

// The number of a shard. A rank is an int: where ranks form groups, the owner
// of a shard is a member of the group, and has another number.
struct Shard {
  explicit constexpr Shard(int number) : number(number) {}
  constexpr operator int() const { return number; }  // an index

  int number;
};

// How a bucket divides into shards (one per owner) and a shard into packet
// slots. A function of the shape, the number of ranks and the context's slot
// size alone, so every rank computes the same one. Later shards may be short
// or empty; the slots of a shard are as even as their steps allow.
class ShardLayout {
 public:
  static constexpr size_t kShardStep = 64;
  static constexpr size_t kSlotStep = 32;

  // REQUIRES ranks > 0, slotBytesMax a positive multiple of kSlotStep.
  ShardLayout(const OpShape& shape, int ranks, size_t slotBytesMax)
      : bytes_(shape.bytes()), elementSize_(elementSize(shape.type)) {
    UBT_REQUIRE(ranks > 0 && slotBytesMax > 0 && slotBytesMax % kSlotStep == 0);
    const size_t even = (bytes_ + ranks - 1) / ranks;
    shardBytes_ = roundUp(even, kShardStep);
    const size_t slots = (shardBytes_ + slotBytesMax - 1) / slotBytesMax;
    slotBytes_ = slots == 0
                     ? slotBytesMax
                     : roundUp((shardBytes_ + slots - 1) / slots, kSlotStep);
  }

  // Byte range of a shard in the bucket.
  size_t shardOffset(Shard shard) const {
    return std::min(bytes_, shardBytes_ * static_cast<size_t>(shard.number));
  }
  size_t shardSize(Shard shard) const {
    return std::min(bytes_ - shardOffset(shard), shardBytes_);
  }
  uint32_t slots(Shard shard) const {
    return static_cast<uint32_t>((shardSize(shard) + slotBytes_ - 1) /
                                 slotBytes_);
  }
  // The end of a range of slots of the shard. `first` and `count` may be any
  // numbers, as from the wire: beyond the shard, the range is empty.
  uint32_t endOfRange(Shard shard, uint32_t first, uint32_t count) const {
    const uint32_t all = slots(shard);
    return first + std::min(count, all - std::min(first, all));
  }
  // Byte range of a slot in its shard.
  size_t slotOffset(uint32_t slot) const { return slot * slotBytes_; }
  size_t slotSize(Shard shard, uint32_t slot) const {
    return std::min(shardSize(shard) - slotOffset(slot), slotBytes_);
  }
  size_t slotElements(Shard shard, uint32_t slot) const {
    return slotSize(shard, slot) / elementSize_;
  }
  size_t bytes() const { return bytes_; }
  size_t elements() const { return bytes_ / elementSize_; }

 private:
  static size_t roundUp(size_t bytes, size_t step) {
    return (bytes + step - 1) / step * step;
  }

  size_t bytes_;
  size_t elementSize_;
  size_t shardBytes_;
  size_t slotBytes_;
};

}  // namespace ubt
