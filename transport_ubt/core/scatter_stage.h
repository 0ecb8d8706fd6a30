// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/arena.h"
#include "transport_ubt/core/bit_set.h"
#include "transport_ubt/core/options.h"
#include "transport_ubt/core/reduction.h"
#include "transport_ubt/core/shard_layout.h"

namespace ubt {

// An owner's duty in one op: sums what arrives for its shard, slot by slot,
// and closes slots: each as soon as all ranks are in it, the rest at the
// bound. Sums lie in the arena until the local caller comes; then in the
// caller's own memory, so that nothing is copied on the way. Closing is final.
// A closed slot holds the sum times ranks / contributors.
//
// In rank order contributions lie in the arena, apart, until their slot closes,
// whether or not the caller is there. A slot's first contribution acquires room
// for all: otherwise an arena full of slots that each lack somebody could let
// none of them close, for ever in an op that is to be exact.
class ScatterStage {
 public:
  enum class Outcome : uint8_t { kAccepted, kDuplicate, kLate, kArenaFull };

  // `reduction` and `arena` must outlive this.
  ScatterStage(const ShardLayout& layout,
               ElementType type,
               int rank,
               int size,
               SumOrder order,
               const Reduction& reduction,
               Arena* arena);

  // What one allocates, contributions apart, as long as it lives.
  static size_t bytesFor(const ShardLayout& layout, int rank, int size);

  // Adds a contribution. REQUIRES source a peer's rank, slot < slots(),
  // payload of exactly the slot's size.
  Outcome add(int source, uint32_t slot, const std::byte* payload);

  // The local caller enters: `shard` holds its contribution and is the
  // accumulator from now on, until leave(). Slots closed before keep their
  // value, and get it copied to `shard`.
  void enter(std::byte* shard);

  // The local caller takes its memory back. Closed slots from `firstNeeded` on
  // are copied to the arena for peers that still lack them. Returns for how
  // many it had no room (peers then learn nothing more of those).
  // REQUIRES closed().
  uint32_t leave(uint32_t firstNeeded);

  // Closes every slot that is open: the bound has passed.
  void closeAll();

  uint32_t slots() const { return static_cast<uint32_t>(slots_.size()); }
  bool closed() const { return closedOrder_.size() == slots_.size(); }
  bool entered() const { return entered_; }
  // Slots in the order in which they closed: the order to broadcast them in.
  const std::vector<uint32_t>& closedOrder() const { return closedOrder_; }
  bool isClosed(uint32_t slot) const { return slots_[slot].closed; }
  uint16_t contributors(uint32_t slot) const {
    return slots_[slot].contributors;
  }
  // The slot's value; null if it is no longer kept. REQUIRES isClosed(slot).
  const std::byte* value(uint32_t slot) const;

  // Which slots hold a rank's contribution (the local one's too).
  const BitSet& contributed(int rank) const { return contributed_[rank]; }

 private:
  struct Slot {
    uint16_t contributors = 0;
    bool closed = false;
    // The sum while the caller is away; in rank order, before the slot closes,
    // a row for each peer's contribution.
    ArenaBuffer memory;
  };

  bool keep(int source, uint32_t slot, const std::byte* payload);
  std::byte* row(int source, uint32_t slot);
  void sumRows(uint32_t slot);
  void close(uint32_t slot);
  std::byte* accumulator(uint32_t slot);

  const ShardLayout layout_;
  const ElementType type_;
  const int rank_;
  const int size_;
  const SumOrder order_;
  const Reduction& reduction_;
  Arena* const arena_;
  std::byte* shard_ = nullptr;  // the caller's memory, while it is here
  bool entered_ = false;
  std::vector<Slot> slots_;
  std::vector<BitSet> contributed_;
  std::vector<uint32_t> closedOrder_;
};

}  // namespace ubt
