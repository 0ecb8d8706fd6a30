// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/exchange_stage.h"

#include <cstring>
#include <new>
#include <utility>

#include "transport_ubt/core/base/require.h"

namespace ubt {
namespace {

// The largest slot of a shard.
size_t slotBytes(const ShardLayout& layout, Shard shard) {
  return layout.slots(shard) > 0 ? layout.slotSize(shard, 0) : 0;
}

}  // namespace

ExchangeStage::ExchangeStage(const ShardLayout& layout, const Setup& setup)
    : layout_(layout),
      setup_(setup),
      slots_(layout.slots(setup.shard)),
      received_(setup.groups, BitSet(slots_.size())),
      summed_(received_),
      sum_(slotBytes(layout, setup.shard)) {
  closedOrder_.reserve(slots_.size());
}

size_t ExchangeStage::bytesFor(const ShardLayout& layout,
                               Shard shard,
                               int groups) {
  const size_t slots = layout.slots(shard);
  return slots * (sizeof(Slot) + sizeof(uint32_t)) +
         2 * groups * (sizeof(BitSet) + BitSet::bytesFor(slots)) +
         slotBytes(layout, shard);
}

ExchangeStage::Memory ExchangeStage::acquire(size_t bytes) {
  if (entered_) {
    return Memory(
        std::unique_ptr<std::byte[]>(new (std::nothrow) std::byte[bytes]));
  }
  return Memory(setup_.arena->acquire(bytes, setup_.account));
}

// The place of another group's sum.
std::byte* ExchangeStage::row(int group, uint32_t index) {
  const int place = group < setup_.group ? group : group - 1;
  return slots_[index].memory.data() +
         place * layout_.slotSize(setup_.shard, index);
}

ExchangeStage::Outcome ExchangeStage::add(int group,
                                          uint32_t index,
                                          uint16_t contributors,
                                          const std::byte* payload) {
  UBT_REQUIRE(group >= 0 && group < setup_.groups && group != setup_.group);
  UBT_REQUIRE(index < slots());
  Slot& slot = slots_[index];
  if (received_[group].test(index)) {
    return Outcome::kDuplicate;
  }
  if (slot.closed) {
    return Outcome::kLate;
  }
  const size_t bytes = layout_.slotSize(setup_.shard, index);
  if (!slot.memory) {
    slot.memory = acquire((setup_.groups - 1) * bytes);
    if (!slot.memory) {
      return Outcome::kArenaFull;
    }
  }
  if (contributors > 0) {
    std::memcpy(row(group, index), payload, bytes);
  }
  note(group, index, contributors);
  return Outcome::kAccepted;
}

void ExchangeStage::addOwn(uint32_t index) {
  note(setup_.group, index, setup_.own->contributors(index));
}

void ExchangeStage::note(int group, uint32_t index, uint16_t contributors) {
  Slot& slot = slots_[index];
  received_[group].set(index);
  if (contributors > 0) {
    summed_[group].set(index);
  }
  slot.contributors = static_cast<uint16_t>(slot.contributors + contributors);
  slot.groups++;
  if (slot.groups == setup_.groups) {
    close(index);
  }
}

void ExchangeStage::close(uint32_t index) {
  Slot& slot = slots_[index];
  const size_t elements = layout_.slotElements(setup_.shard, index);
  bool any = false;
  for (int group = 0; group < setup_.groups; group++) {
    if (!summed_[group].test(index)) {
      continue;
    }
    const std::byte* const addend =
        group == setup_.group ? setup_.own->value(index) : row(group, index);
    if (any) {
      setup_.reduction->add(setup_.type, sum_.data(), addend, elements);
    } else {
      std::memcpy(sum_.data(), addend, layout_.slotSize(setup_.shard, index));
    }
    any = true;
  }
  if (any && slot.contributors < setup_.ranks) {
    setup_.reduction->scale(
        setup_.type,
        sum_.data(),
        static_cast<double>(setup_.ranks) / slot.contributors,
        elements);
  }
  slot.closed = true;
  slot.partial = slot.groups < setup_.groups;
  closedOrder_.push_back(index);
  put(index);
}

// Keeps the sum. If there is no other room, it overwrites the groups' sums.
void ExchangeStage::put(uint32_t index) {
  Slot& slot = slots_[index];
  const size_t bytes = layout_.slotSize(setup_.shard, index);
  if (slot.contributors == 0) {
    slot.memory = Memory();
    return;
  }
  if (!slot.memory || setup_.groups > 2) {
    Memory exact = acquire(bytes);
    if (exact) {
      slot.memory = std::move(exact);
    }
  }
  if (slot.memory) {
    std::memcpy(slot.memory.data(), sum_.data(), bytes);
    return;
  }
  // No other group's sum has arrived, and there is no room for the own one: the
  // slot stays without contributors.
  received_[setup_.group].clear(index);
  summed_[setup_.group].clear(index);
  slot.contributors = 0;
}

void ExchangeStage::closeAll() {
  UBT_REQUIRE(received_[setup_.group].all());
  for (uint32_t index = 0; index < slots(); index++) {
    if (!slots_[index].closed) {
      close(index);
    }
  }
}

uint32_t ExchangeStage::leave(std::byte* shard,
                              uint32_t firstNeeded,
                              ArenaBuffer* room) {
  UBT_REQUIRE(closed());
  uint32_t dropped = 0;
  entered_ = false;
  for (uint32_t index = 0; index < slots(); index++) {
    Slot& slot = slots_[index];
    const size_t bytes = layout_.slotSize(setup_.shard, index);
    std::byte* const at = shard + layout_.slotOffset(index);
    if (slot.contributors == 0) {
      std::memset(at, 0, bytes);
      continue;
    }
    std::memcpy(at, slot.memory.data(), bytes);
    if (index < firstNeeded) {
      slot.memory = Memory();
    } else if (!slot.memory.isLent()) {
      slot.memory = Memory(setup_.arena->acquireFrom(room, bytes));
      if (slot.memory) {
        std::memcpy(slot.memory.data(), at, bytes);
      } else {
        dropped++;
      }
    }
  }
  return dropped;
}

}  // namespace ubt
