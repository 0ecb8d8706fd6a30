// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport_ubt/core/base/arena.h"
#include "transport_ubt/core/base/bit_set.h"
#include "transport_ubt/core/base/element_type.h"
#include "transport_ubt/core/base/reduction.h"
#include "transport_ubt/core/op/scatter_stage.h"
#include "transport_ubt/core/op/shard_layout.h"

namespace ubt {

// An owner's duty between scatter and broadcast where ranks form groups: takes
// the other groups' sums of its shard, slot by slot, and adds to them that of
// its own group. A slot closes as soon as all groups' sums are in it, the rest
// when nobody waits any longer; closing is final. A closed slot holds the sum,
// in the order of the groups, so that all owners of the shard have the same
// bits, times ranks / contributors.
//
// Sums lie in the arena until the local caller comes; what comes after that, in
// memory of the caller's op. A slot's first sum takes room for all others, so
// that an arena full of slots that each lack some cannot keep all from closing.
class ExchangeStage {
 public:
  enum class Outcome : uint8_t { kAccepted, kDuplicate, kLate, kArenaFull };

  struct Setup {
    ElementType type = ElementType::kFloat32;
    int shard = 0;
    int group = 0;  // the own one
    int groups = 2;
    int ranks = 2;                      // all groups' together
    const ScatterStage* own = nullptr;  // outlives this, as do the rest
    const Reduction* reduction = nullptr;
    Arena* arena = nullptr;
    size_t* account = nullptr;  // of what it holds there; null: none
  };

  ExchangeStage(const ShardLayout& layout, const Setup& setup);

  // What one allocates, sums and results apart, as long as it lives.
  static size_t bytesFor(const ShardLayout& layout, int shard, int groups);

  // Another group's sum. REQUIRES group not the own, slot < slots(), payload of
  // exactly the slot's size or, when contributors is 0, empty.
  Outcome add(int group,
              uint32_t slot,
              uint16_t contributors,
              const std::byte* payload);
  // The own group's, which lies in the scatter stage: the slot is closed there.
  void addOwn(uint32_t slot);

  // The local caller has entered.
  void enter() { entered_ = true; }
  // It takes its memory back: `shard` gets the results. Those from
  // `firstNeeded` on are kept, in the arena, for members that still lack them,
  // in `room` as far as that goes. Returns for how many there was none.
  // REQUIRES closed().
  uint32_t leave(std::byte* shard, uint32_t firstNeeded, ArenaBuffer* room);

  // Closes every slot that is open: who has not sent its sum is left out, here,
  // if not in other groups. REQUIRES that all slots were added to addOwn().
  void closeAll();

  uint32_t slots() const { return static_cast<uint32_t>(slots_.size()); }
  bool closed() const { return closedOrder_.size() == slots_.size(); }
  // Whether every open slot holds the contributions of more than half of all
  // ranks.
  bool holdsMajority() const { return majorities_ == slots_.size(); }
  // In which slots closed: to be broadcast so.
  const std::vector<uint32_t>& closedOrder() const { return closedOrder_; }
  bool isClosed(uint32_t slot) const { return slots_[slot].closed; }

  // Of a closed slot. Its value is null if it is not kept, or nobody's.
  const std::byte* value(uint32_t slot) const {
    return slots_[slot].memory.data();
  }
  uint16_t contributors(uint32_t slot) const {
    return slots_[slot].contributors;
  }
  // Whether a group's sum was left out, which other owners may have.
  bool partial(uint32_t slot) const { return slots_[slot].partial; }

  // Slots that a group's sum is in.
  const BitSet& received(int group) const { return received_[group]; }

 private:
  // In the arena, or of the caller's op.
  class Memory {
   public:
    Memory() = default;
    explicit Memory(ArenaBuffer lent) : lent_(std::move(lent)) {}
    explicit Memory(std::unique_ptr<std::byte[]> own) : own_(std::move(own)) {}
    explicit operator bool() const { return lent_ || own_ != nullptr; }
    bool isLent() const { return static_cast<bool>(lent_); }
    std::byte* data() { return lent_ ? lent_.data() : own_.get(); }
    const std::byte* data() const { return lent_ ? lent_.data() : own_.get(); }

   private:
    ArenaBuffer lent_;
    std::unique_ptr<std::byte[]> own_;
  };
  struct Slot {
    uint16_t groups = 0;        // in it
    uint16_t contributors = 0;  // of those groups together
    bool closed = false;
    bool partial = false;
    // A row for each other group; once it is closed, the result.
    Memory memory;
  };

  Memory acquire(size_t bytes);
  std::byte* row(int group, uint32_t slot);
  void note(int group, uint32_t slot, uint16_t contributors);
  void close(uint32_t slot);
  void put(uint32_t slot);

  const ShardLayout layout_;
  const Setup setup_;
  bool entered_ = false;
  std::vector<Slot> slots_;
  std::vector<BitSet> received_;  // by group
  std::vector<BitSet> summed_;    // likewise: those that anybody contributed to
  uint32_t majorities_ = 0;       // closed, or of more than half of all ranks
  std::vector<uint32_t> closedOrder_;
  std::vector<std::byte> sum_;  // of the slot that is being closed
};

}  // namespace ubt
