// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/scatter_stage.h"

#include <cstring>

namespace ubt {

ScatterStage::ScatterStage(const ShardLayout& layout,
                           ElementType type,
                           int rank,
                           int size,
                           const Reduction& reduction,
                           Arena* arena)
    : layout_(layout),
      type_(type),
      rank_(rank),
      size_(size),
      reduction_(reduction),
      arena_(arena),
      slots_(layout.slots(rank)),
      contributed_(size, BitSet(layout.slots(rank))) {
  closedOrder_.reserve(slots_.size());
}

std::byte* ScatterStage::accumulator(uint32_t slot) {
  return shard_ != nullptr ? shard_ + layout_.slotOffset(slot)
                           : slots_[slot].memory.data();
}

ScatterStage::Outcome ScatterStage::add(int source,
                                        uint32_t index,
                                        const std::byte* payload) {
  Slot& slot = slots_[index];
  if (contributed_[source].test(index)) {
    return Outcome::kDuplicate;
  }
  if (slot.closed) {
    return Outcome::kLate;
  }
  const size_t bytes = layout_.slotSize(rank_, index);
  if (slot.contributors == 0) {
    // Only while the caller is away: its own contribution is the first else.
    slot.memory = arena_->acquire(bytes);
    if (!slot.memory) {
      return Outcome::kArenaFull;
    }
    std::memcpy(slot.memory.data(), payload, bytes);
  } else {
    reduction_.add(
        type_, accumulator(index), payload, layout_.slotElements(rank_, index));
  }
  contributed_[source].set(index);
  slot.contributors++;
  if (slot.contributors == size_) {
    close(index);
  }
  return Outcome::kAccepted;
}

void ScatterStage::enter(std::byte* shard) {
  entered_ = true;
  shard_ = shard;
  for (uint32_t index = 0; index < slots(); index++) {
    Slot& slot = slots_[index];
    const size_t bytes = layout_.slotSize(rank_, index);
    std::byte* const own = shard + layout_.slotOffset(index);
    if (slot.closed) {
      if (slot.contributors == 0) {
        std::memset(own, 0, bytes);
      } else {
        std::memcpy(own, slot.memory.data(), bytes);
        slot.memory.reset();
      }
      continue;
    }
    if (slot.contributors > 0) {
      reduction_.add(
          type_, own, slot.memory.data(), layout_.slotElements(rank_, index));
      slot.memory.reset();
    }
    contributed_[rank_].set(index);
    slot.contributors++;
    if (slot.contributors == size_) {
      close(index);
    }
  }
}

void ScatterStage::close(uint32_t index) {
  Slot& slot = slots_[index];
  slot.closed = true;
  closedOrder_.push_back(index);
  if (slot.contributors > 0 && slot.contributors < size_) {
    reduction_.scale(type_,
                     accumulator(index),
                     static_cast<double>(size_) / slot.contributors,
                     layout_.slotElements(rank_, index));
  }
}

void ScatterStage::closeAll() {
  for (uint32_t index = 0; index < slots(); index++) {
    if (!slots_[index].closed) {
      close(index);
    }
  }
}

bool ScatterStage::leave(uint32_t firstNeeded) {
  bool kept = true;
  for (uint32_t index = firstNeeded; index < slots(); index++) {
    Slot& slot = slots_[index];
    const size_t bytes = layout_.slotSize(rank_, index);
    slot.memory = arena_->acquire(bytes);
    if (slot.memory) {
      std::memcpy(
          slot.memory.data(), shard_ + layout_.slotOffset(index), bytes);
    } else {
      kept = false;
    }
  }
  shard_ = nullptr;
  return kept;
}

const std::byte* ScatterStage::value(uint32_t index) const {
  return shard_ != nullptr ? shard_ + layout_.slotOffset(index)
                           : slots_[index].memory.data();
}

}  // namespace ubt
