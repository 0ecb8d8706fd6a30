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

// An owner's duty in one op: sums what arrives for its shard, slot by slot,
// and closes slots: each as soon as all ranks are in it, the rest at the
// bound. Sums lie in the arena until the local caller comes; then in the
// caller's own memory, so that nothing is copied on the way. Closing is final.
// A closed slot holds the sum times ranks / contributors. (Where ranks form
// groups, "ranks" are the members of one, by their places, and a closed slot
// holds the sum as it is: it is no result yet.)
//
// A rank contributes in one form, and ranks may differ in it. If they do, sums
// of each form are kept apart, no slot closes before all of them do, and the
// result is plain: the transformed sum, whose missing coefficients count as
// zero, is inverted and added to the other.
//
// In rank order contributions lie in the arena, apart, until their slot closes,
// whether or not the caller is there. A slot's first contribution acquires room
// for all: otherwise an arena full of slots that each lack somebody could let
// none of them close, for ever in an op that is to be exact.
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
    size_t* account = nullptr;  // of what it holds there; null: none
    bool rescale = true;        // false: a closed slot holds the bare sum
  };

  ScatterStage(const ShardLayout& layout, const Setup& setup);

  // What one allocates, contributions apart, as long as it lives.
  static size_t bytesFor(const ShardLayout& layout, int rank, int size);

  // What the contributions of all may take of the arena, at most.
  static size_t roomFor(const ShardLayout& layout,
                        int rank,
                        int size,
                        SumOrder order) {
    return layout.shardSize(rank) * (order == SumOrder::kRank ? size : 1);
  }

  // Adds a contribution. REQUIRES source a peer's rank, slot < slots(),
  // payload of exactly the slot's size.
  Outcome add(int source, uint32_t slot, Form form, const std::byte* payload);

  // The local caller enters: `shard` holds its contribution, in that form, and
  // is the accumulator from now on, until leave(). Slots closed before keep
  // their value, and get it copied to `shard`.
  void enter(std::byte* shard, Form form);

  // The local caller takes its memory back. Closed slots from `firstNeeded` on
  // are copied to the arena for peers that still lack them, into `room` as far
  // as that goes. Returns for how many there was none (peers then learn nothing
  // more of those). REQUIRES closed().
  uint32_t leave(uint32_t firstNeeded, ArenaBuffer* room);

  // Closes every slot that is open: the bound has passed. If more than the
  // share `zeroLoss` of the shard's pairs is missing (zero: whatever is), those
  // slots hold nobody's contribution, and their value is zero.
  void closeAll(double zeroLoss);

  uint32_t slots() const { return static_cast<uint32_t>(slots_.size()); }
  bool closed() const { return closedOrder_.size() == slots_.size(); }
  // Whether every slot holds more than half of all contributions.
  bool holdsMajority() const { return majorities_ == slots_.size(); }
  bool entered() const { return entered_; }
  // Slots in the order in which they closed: the order to broadcast them in.
  const std::vector<uint32_t>& closedOrder() const { return closedOrder_; }
  bool isClosed(uint32_t slot) const { return slots_[slot].closed; }
  // What the values of closed slots are; of no meaning before any is.
  Form form() const { return form_; }
  uint16_t contributors(uint32_t slot) const {
    const int others = others_.empty() ? 0 : others_[slot].contributors;
    return static_cast<uint16_t>(slots_[slot].contributors + others);
  }
  // The slot's value; null if it is no longer kept. REQUIRES isClosed(slot).
  const std::byte* value(uint32_t slot) const;

  // Which slots a rank's contribution has come to (the local one's too).
  const BitSet& contributed(int rank) const { return contributed_[rank]; }
  // Which slots' values hold it.
  BitSet summed(int rank) const;
  // Elements of slots that closeAll() made zero.
  uint64_t zeroedElements() const { return zeroedElements_; }

 private:
  // What one form's contributions to a slot come to.
  struct Sum {
    uint16_t contributors = 0;
    // The sum, unless the caller's memory has it; in rank order, before the
    // slot closes, a row for each peer's contribution, whatever its form.
    ArenaBuffer memory;
  };
  struct Slot : Sum {
    bool closed = false;
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
  void close(uint32_t slot);
  void scale(uint32_t slot, std::byte* data, int ranks, int contributors);
  std::byte* accumulator(uint32_t slot);
  // Where forms differ (mixed_forms.cc).
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
  bool entered_ = false;
  Form form_ = Form::kPlain;  // of slots_, once anybody contributes
  bool mixed_ = false;        // ranks differ in their forms
  std::vector<Slot> slots_;
  std::vector<Sum> others_;  // of the other form; sized on first use
  std::vector<std::optional<Form>> forms_;  // by rank
  std::vector<BitSet> contributed_;
  uint32_t majorities_ = 0;  // slots that more than half of the ranks are in
  uint32_t complete_ = 0;    // slots that all ranks are in
  BitSet zeroed_;            // sized on first use
  uint64_t zeroedElements_ = 0;
  std::vector<uint32_t> closedOrder_;
};

}  // namespace ubt
