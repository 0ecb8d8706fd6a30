// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "transport_ubt/core/base/arena.h"
#include "transport_ubt/core/base/bit_set.h"
#include "transport_ubt/core/base/reduction.h"
#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/op/shard_layout.h"
#include "transport_ubt/core/wire/options.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// The scatter stage at an owner. It adds up the contributions to its shard,
// slot by slot. A slot closes when all ranks are in it, or when most are and
// the network has lost the other contributions. The others close at the bound.
// Closing is final. A closed slot holds the sum times ranks / contributors.
// Sums lie in the arena until the local caller enters, and then in the caller's
// memory, so that nothing is copied.
//
// Where ranks form groups, ranks are the members of the own group, by their
// places, and a closed slot holds the bare sum: it is no result yet.
//
// A rank contributes in one form, plain or transformed. If both forms arrive,
// the stage keeps a sum of each, and closes all slots together. It inverts the
// transformed sum, with zeros for missing coefficients, and adds it to the
// plain one. The result is plain.
//
// In rank order (SumOrder::kRank) contributions lie apart in the arena until
// their slot closes. The first contribution of a slot acquires room for all.
// Otherwise the arena could fill with slots that each miss some rank, and none
// could close.
class ScatterStage {
 public:
  enum class Outcome : uint8_t {
    kAccepted,
    kDuplicate,
    kLate,
    kArenaFull,
    kMismatched,  // the source has contributed in another form
  };

  struct Setup {
    ElementType type = ElementType::kFloat32;
    int rank = 0;
    int size = 1;
    SumOrder order = SumOrder::kArrival;
    uint64_t seed = 0;                     // of transformed contributions
    const Reduction* reduction = nullptr;  // outlives this, as does the arena
    Arena* arena = nullptr;
    size_t* account = nullptr;  // bytes that it holds there; null: none
    bool rescale = true;        // false: a closed slot holds the bare sum
  };

  ScatterStage(const ShardLayout& layout, const Setup& setup);

  // The most memory of one, without contributions.
  static size_t bytesFor(const ShardLayout& layout, Shard own, int size);

  // The most bytes of the arena that all contributions take.
  static size_t roomFor(const ShardLayout& layout,
                        Shard own,
                        int size,
                        SumOrder order) {
    return layout.shardSize(own) * (order == SumOrder::kRank ? size : 1);
  }

  // Adds a contribution. REQUIRES source a peer's rank, slot < slots(),
  // payload of exactly the slot's size.
  Outcome add(int source, uint32_t slot, Form form, const std::byte* payload);

  // A contribution to the slot is lost, and will not come. The slot may be
  // closed. Called once for each.
  void lose(uint32_t slot);
  // A contribution that lose() was called for comes after all: add() follows.
  // REQUIRES that the slot is open.
  void find(uint32_t slot);

  // The local caller enters. `shard` holds its contribution, in `form`, and
  // becomes the accumulator until leave(). The values of slots that are closed
  // already are copied to `shard`.
  void enter(std::byte* shard, Form form);

  // The local caller takes its memory back. Slots from `firstNeeded` on, which
  // some peer still lacks, are copied to `room`, and then elsewhere to the
  // arena. Returns how many of them found no room: those are no longer
  // available. REQUIRES closed().
  uint32_t leave(uint32_t firstNeeded, ArenaBuffer* room);

  // Closes every open slot, because the bound has passed. If more than the
  // share `zeroLoss` of the shard's pairs is missing, these slots become zero,
  // without contributors. 0: that never happens.
  void closeAll(double zeroLoss);

  uint32_t slots() const { return static_cast<uint32_t>(slots_.size()); }
  bool closed() const { return closedOrder_.size() == slots_.size(); }
  // Whether every slot holds more than half of all contributions.
  bool holdsMajority() const { return majorities_ == slots_.size(); }
  // The slots in the order of closing. They are broadcast in this order.
  const std::vector<uint32_t>& closedOrder() const { return closedOrder_; }
  bool isClosed(uint32_t slot) const { return slots_[slot].closed; }
  // The form of closed slots' values. Undefined before the first closes.
  Form form() const { return form_; }
  uint16_t contributors(uint32_t slot) const {
    const int others = others_.empty() ? 0 : others_[slot].contributors;
    return static_cast<uint16_t>(slots_[slot].contributors + others);
  }
  // The slot's value; null if it is no longer kept. REQUIRES isClosed(slot).
  const std::byte* value(uint32_t slot) const;

  // The slots that hold a contribution of a rank, maybe the own.
  const BitSet& contributed(int rank) const { return contributed_[rank]; }
  // The slots whose values hold that rank's contribution.
  BitSet summed(int rank) const;
  // Elements of slots that closeAll() made zero.
  uint64_t zeroedElements() const { return zeroedElements_; }

 private:
  // The sum of one form's contributions to a slot.
  struct Sum {
    uint16_t contributors = 0;
    // The sum, unless it is in the caller's memory. In rank order, before the
    // slot closes: a row for each peer's contribution, of either form.
    ArenaBuffer memory;
  };
  struct Slot : Sum {
    bool closed = false;
    uint16_t lost = 0;  // contributions
  };

  bool accept(Sum* sum, uint32_t slot, const std::byte* payload, bool here);
  bool keep(int source, uint32_t slot, const std::byte* payload);
  std::byte* row(int source, uint32_t slot);
  std::byte* sumRows(uint32_t slot, Form form);
  void putSum(uint32_t slot, std::byte* sum);
  bool lacksMoreThan(double share) const;
  void zero(uint32_t slot);
  void noteForm(int source, Form form);
  void forgetForm(int source);
  void swapForms();
  void complete(uint32_t slot);
  bool lacksOnlyLost(uint32_t slot) const;
  void close(uint32_t slot);
  Shard ownShard() const { return Shard(setup_.rank); }
  void scale(uint32_t slot, std::byte* data, int ranks, int contributors);
  std::byte* accumulator(uint32_t slot);
  // For ranks that differ in their forms (mixed_forms.cc).
  void closeMixed();
  void closeMixed(uint32_t slot,
                  const std::byte* whole,
                  int plain,
                  int transformed);
  void dropTransformed();
  ArenaBuffer takePlace(uint32_t slot);
  void gatherTransformed(std::byte* whole);
  std::byte* sumOf(uint32_t slot, Form form, int* contributors);
  int ranksIn(Form form) const;

  const ShardLayout layout_;
  const Setup setup_;
  std::byte* shard_ = nullptr;  // the caller's memory, while it is here
  Form form_ = Form::kPlain;    // of slots_, from the first contribution on
  bool mixed_ = false;          // ranks differ in their forms
  std::vector<Slot> slots_;
  std::vector<Sum> others_;  // of the other form; sized on first use
  std::vector<std::optional<Form>> forms_;  // by rank
  std::vector<BitSet> contributed_;
  uint32_t majorities_ = 0;  // slots with more than half of the ranks
  uint32_t complete_ = 0;    // slots with all ranks
  BitSet zeroed_;            // sized on first use
  uint64_t zeroedElements_ = 0;
  std::vector<uint32_t> closedOrder_;
};

}  // namespace ubt
