// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/scatter_stage.h"

#include <cstring>
#include <utility>

namespace ubt {

ScatterStage::ScatterStage(const ShardLayout& layout,
                           ElementType type,
                           int rank,
                           int size,
                           SumOrder order,
                           const Reduction& reduction,
                           Arena* arena)
    : layout_(layout),
      type_(type),
      rank_(rank),
      size_(size),
      order_(order),
      reduction_(reduction),
      arena_(arena),
      slots_(layout.slots(rank)),
      contributed_(size, BitSet(layout.slots(rank))) {
  closedOrder_.reserve(slots_.size());
}

size_t ScatterStage::bytesFor(const ShardLayout& layout, int rank, int size) {
  const size_t slots = layout.slots(rank);
  return slots * (sizeof(Slot) + sizeof(uint32_t)) +
         size * (sizeof(BitSet) + BitSet::bytesFor(slots));
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
  if (order_ == SumOrder::kRank) {
    if (!keep(source, index, payload)) {
      return Outcome::kArenaFull;
    }
  } else if (slot.contributors == 0) {
    // Only while the caller is away: its own contribution is the first else.
    const size_t bytes = layout_.slotSize(rank_, index);
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

// Rank order: room for all peers with the first; false if there is none.
bool ScatterStage::keep(int source, uint32_t index, const std::byte* payload) {
  Slot& slot = slots_[index];
  const size_t bytes = layout_.slotSize(rank_, index);
  if (!slot.memory) {
    slot.memory = arena_->acquire((size_ - 1) * bytes);
    if (!slot.memory) {
      return false;
    }
  }
  std::memcpy(row(source, index), payload, bytes);
  return true;
}

// Where a rank's contribution lies in rank order; the own one needs no row.
std::byte* ScatterStage::row(int source, uint32_t index) {
  if (source == rank_) {
    return shard_ + layout_.slotOffset(index);
  }
  const int place = source < rank_ ? source : source - 1;
  return slots_[index].memory.data() + place * layout_.slotSize(rank_, index);
}

// Puts the sum of what there is in the place of accumulator().
void ScatterStage::sumRows(uint32_t index) {
  Slot& slot = slots_[index];
  const size_t bytes = layout_.slotSize(rank_, index);
  std::byte* sum = nullptr;
  for (int source = 0; source < size_; source++) {
    if (!contributed_[source].test(index)) {
      continue;
    }
    std::byte* const addend = row(source, index);
    if (sum == nullptr) {
      sum = addend;
    } else {
      reduction_.add(type_, sum, addend, layout_.slotElements(rank_, index));
    }
  }
  if (shard_ != nullptr) {
    std::byte* const own = shard_ + layout_.slotOffset(index);
    if (sum != own) {
      std::memcpy(own, sum, bytes);
    }
    slot.memory.reset();
    return;
  }
  if (sum == nullptr) {
    return;
  }
  // The rows are more than the sum needs; but if there is no room beside them,
  // they have to do.
  ArenaBuffer kept = arena_->acquire(bytes);
  if (kept) {
    std::memcpy(kept.data(), sum, bytes);
    slot.memory = std::move(kept);
  } else {
    std::memmove(slot.memory.data(), sum, bytes);
  }
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
    if (slot.contributors > 0 && order_ == SumOrder::kArrival) {
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
  if (order_ == SumOrder::kRank) {
    sumRows(index);
  }
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

uint32_t ScatterStage::leave(uint32_t firstNeeded) {
  uint32_t dropped = 0;
  for (uint32_t index = firstNeeded; index < slots(); index++) {
    Slot& slot = slots_[index];
    const size_t bytes = layout_.slotSize(rank_, index);
    slot.memory = arena_->acquire(bytes);
    if (slot.memory) {
      std::memcpy(
          slot.memory.data(), shard_ + layout_.slotOffset(index), bytes);
    } else {
      dropped++;
    }
  }
  shard_ = nullptr;
  return dropped;
}

const std::byte* ScatterStage::value(uint32_t index) const {
  return shard_ != nullptr ? shard_ + layout_.slotOffset(index)
                           : slots_[index].memory.data();
}

}  // namespace ubt
