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

// The exchange at an owner, between scatter and broadcast, where ranks form
// groups. It takes the other groups' sums of the shard, slot by slot, and adds
// the own group's. A slot closes when the sums of all groups are in it; the
// others close when the stage ends. Closing is final. A closed slot holds the
// sum times ranks / contributors. Groups are added in their order, so that all
// owners of the shard compute the same bits.
//
// Sums lie in the arena until the local caller enters, and later ones in memory
// of the caller's op. The first sum of a slot acquires room for all groups.
// Otherwise the arena could fill with slots that each miss some sum, and none
// could close.
class ExchangeStage {
 public:
  enum class Outcome : uint8_t { kAccepted, kDuplicate, kLate, kArenaFull };

  struct Setup {
    ElementType type = ElementType::kFloat32;
    Shard shard{0};
    int group = 0;  // the own group
    int groups = 2;
    int ranks = 2;                      // of all groups
    const ScatterStage* own = nullptr;  // outlives this, as do the rest
    const Reduction* reduction = nullptr;
    Arena* arena = nullptr;
    size_t* account = nullptr;  // bytes that it holds there; null: none
  };

  ExchangeStage(const ShardLayout& layout, const Setup& setup);

  // The most memory of one, without sums and results.
  static size_t bytesFor(const ShardLayout& layout, Shard shard, int groups);

  // The sum of another group. REQUIRES group other than the own, slot <
  // slots(), payload of exactly the slot's size or, when contributors is 0,
  // empty.
  Outcome add(int group,
              uint32_t slot,
              uint16_t contributors,
              const std::byte* payload);
  // The sum of the own group. REQUIRES that the slot is closed in the scatter
  // stage, which holds the sum.
  void addOwn(uint32_t slot);

  // The local caller has entered.
  void enter() { entered_ = true; }
  // The caller leaves: `shard` gets the results. Results from `firstNeeded` on,
  // which some member still lacks, are also kept in `room`, and then elsewhere
  // in the arena. Returns how many of them found no room. REQUIRES closed().
  uint32_t leave(std::byte* shard, uint32_t firstNeeded, ArenaBuffer* room);

  // Closes every open slot, without the sums that have not arrived. Owners in
  // other groups may have them. REQUIRES addOwn() of all slots.
  void closeAll();

  uint32_t slots() const { return static_cast<uint32_t>(slots_.size()); }
  bool closed() const { return closedOrder_.size() == slots_.size(); }
  // The slots in the order of closing. They are broadcast in this order.
  const std::vector<uint32_t>& closedOrder() const { return closedOrder_; }
  bool isClosed(uint32_t slot) const { return slots_[slot].closed; }

  // The value of a closed slot; null if it is not kept or has no contributors.
  const std::byte* value(uint32_t slot) const {
    return slots_[slot].memory.data();
  }
  uint16_t contributors(uint32_t slot) const {
    return slots_[slot].contributors;
  }
  // Whether some group's sum is missing, which other owners may have.
  bool partial(uint32_t slot) const { return slots_[slot].partial; }

  // The slots that hold a group's sum.
  const BitSet& received(int group) const { return received_[group]; }

 private:
  // A slot's memory, in the arena or in the caller's op.
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
    uint16_t groups = 0;        // whose sums are in it
    uint16_t contributors = 0;  // of those groups
    bool closed = false;
    bool partial = false;
    // Before closing: a row for each other group. After it: the result.
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
  std::vector<BitSet> summed_;    // by group: those with any contributor
  std::vector<uint32_t> closedOrder_;
  std::vector<std::byte> sum_;  // of the slot that is being closed
};

}  // namespace ubt
