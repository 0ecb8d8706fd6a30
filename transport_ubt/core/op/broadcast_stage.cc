// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/broadcast_stage.h"

#include <algorithm>
#include <cstring>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/op/replica_proof.h"

namespace ubt {

BroadcastStage::BroadcastStage(const ShardLayout& layout,
                               Shard own,
                               int size,
                               int ranks,
                               Arena* arena,
                               size_t* account)
    : layout_(layout),
      size_(size),
      ranks_(ranks),
      arena_(arena),
      account_(account),
      owners_(size) {
  for (Shard shard(0); shard < size; shard.number++) {
    const uint32_t slots = shard == own ? 0 : layout.slots(shard);
    owners_[shard].received = BitSet(slots);
    owners_[shard].contributors.resize(slots);
    slotsMissing_ += slots;
  }
}

size_t BroadcastStage::bytesFor(const ShardLayout& layout,
                                Shard own,
                                int size) {
  // A constant, for the same reason as kOpBytes in op.cc.
  constexpr size_t kOwnerBytes = 160;
  static_assert(sizeof(Owner) <= kOwnerBytes, "the account covers an owner");
  size_t bytes = size * kOwnerBytes;
  for (Shard shard(0); shard < size; shard.number++) {
    const size_t slots = shard == own ? 0 : layout.slots(shard);
    bytes += slots * (sizeof(uint16_t) + sizeof(ArenaBuffer)) +
             2 * BitSet::bytesFor(slots);
  }
  return bytes;
}

uint64_t BroadcastStage::pairsLacking(Shard shard, uint32_t slot) const {
  return (ranks_ - owners_[shard].contributors[slot]) *
         static_cast<uint64_t>(layout_.slotElements(shard, slot));
}

// REQUIRES that the slot's contributors and its owner's form are known.
uint64_t BroadcastStage::hashOf(Shard shard,
                                uint32_t slot,
                                const std::byte* payload) const {
  const Owner& owner = owners_[shard];
  const bool zero = owner.contributors[slot] == 0;
  return ReplicaProof::ofSlot(shard,
                              slot,
                              *owner.form,
                              payload,
                              zero ? 0 : layout_.slotSize(shard, slot));
}

void BroadcastStage::place(Shard shard,
                           uint32_t slot,
                           const std::byte* payload) {
  std::byte* const target =
      bucket_ + layout_.shardOffset(shard) + layout_.slotOffset(slot);
  const size_t bytes = layout_.slotSize(shard, slot);
  if (owners_[shard].contributors[slot] == 0) {
    std::memset(target, 0, bytes);  // an agreed zero travels without bytes
  } else {
    std::memcpy(target, payload, bytes);
  }
}

BroadcastStage::Outcome BroadcastStage::add(Shard shard,
                                            uint32_t slot,
                                            uint16_t contributors,
                                            Form form,
                                            const std::byte* payload) {
  UBT_REQUIRE(shard >= 0 && shard < size_);
  Owner& owner = owners_[shard];
  if (owner.received.test(slot)) {
    return Outcome::kDuplicate;
  }
  if (owner.form.value_or(form) != form) {
    return Outcome::kMismatched;
  }
  if (bucket_ == nullptr && contributors > 0) {
    if (owner.early.empty()) {
      owner.early.resize(owner.received.size());
    }
    const size_t bytes = layout_.slotSize(shard, slot);
    owner.early[slot] = arena_->acquire(bytes, account_);
    if (!owner.early[slot]) {
      return Outcome::kArenaFull;
    }
    std::memcpy(owner.early[slot].data(), payload, bytes);
  }
  owner.form = form;
  owner.contributors[slot] = contributors;
  owner.received.set(slot);
  slotsMissing_--;
  pairsMissing_ += pairsLacking(shard, slot);
  hash_ += hashOf(shard, slot, payload);
  if (bucket_ != nullptr) {
    place(shard, slot, payload);
  }
  return Outcome::kAccepted;
}

void BroadcastStage::markPartial(Shard shard, uint32_t slot) {
  Owner& owner = owners_[shard];
  if (owner.partial.size() == 0) {
    owner.partial = BitSet(owner.received.size());
  }
  owner.partial.set(slot);
}

bool BroadcastStage::hasPartial() const {
  return std::any_of(owners_.begin(), owners_.end(), [](const Owner& owner) {
    return !owner.partial.none();
  });
}

std::vector<OpReport::Range> BroadcastStage::partial(ElementType type) const {
  std::vector<OpReport::Range> ranges;
  for (Shard shard(0); shard < size_; shard.number++) {
    const BitSet& slots = owners_[shard].partial;
    for (size_t slot = slots.firstSet(0); slot < slots.size();
         slot = slots.firstSet(slot + 1)) {
      ranges.push_back(
          {(layout_.shardOffset(shard) + layout_.slotOffset(slot)) /
               elementSize(type),
           layout_.slotElements(shard, slot)});
    }
  }
  return ranges;
}

void BroadcastStage::enter(std::byte* bucket) {
  bucket_ = bucket;
  for (Shard shard(0); shard < size_; shard.number++) {
    Owner& owner = owners_[shard];
    for (size_t slot = owner.received.firstSet(0); slot < owner.received.size();
         slot = owner.received.firstSet(slot + 1)) {
      place(shard,
            slot,
            owner.contributors[slot] == 0 ? nullptr : owner.early[slot].data());
    }
    owner.early.clear();
  }
}

BroadcastStage::Dropped BroadcastStage::dropEarly(Shard shard, BitSet* marks) {
  Dropped dropped;
  Owner& owner = owners_[shard];
  for (size_t slot = 0; slot < owner.early.size(); slot++) {
    if (owner.early[slot]) {
      marks->set(slot);
      dropped.slots++;
      dropped.bytes += owner.early[slot].size();
      pairsMissing_ -= pairsLacking(shard, slot);
      hash_ -= hashOf(shard, slot, owner.early[slot].data());
      owner.received.clear(slot);
      if (owner.partial.size() > 0) {
        owner.partial.clear(slot);
      }
      slotsMissing_++;
    }
  }
  owner.early.clear();
  return dropped;
}

std::vector<OpReport::Range> BroadcastStage::zeroMissing(ElementType type) {
  UBT_REQUIRE(bucket_ != nullptr);
  std::vector<OpReport::Range> missing;
  for (Shard shard(0); shard < size_; shard.number++) {
    const BitSet& received = owners_[shard].received;
    for (size_t slot = received.firstClear(0); slot < received.size();
         slot = received.firstClear(slot + 1)) {
      const size_t begin =
          layout_.shardOffset(shard) + layout_.slotOffset(slot);
      std::memset(bucket_ + begin, 0, layout_.slotSize(shard, slot));
      missing.push_back(
          {begin / elementSize(type), layout_.slotElements(shard, slot)});
    }
  }
  return missing;
}

}  // namespace ubt
