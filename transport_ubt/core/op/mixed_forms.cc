// SPDX-License-Identifier: Apache-2.0
//
// Closing a scatter stage with contributions in both forms: some rank has
// values that cannot be transformed, or ranks are changing over.

#include <cstring>
#include <utility>

#include "transport_ubt/core/op/scatter_stage.h"

namespace ubt {

int ScatterStage::ranksIn(Form form) const {
  int ranks = 0;
  for (int rank = 0; rank < setup_.size; rank++) {
    ranks += forms_[rank] == form && !contributed_[rank].none();
  }
  return ranks;
}

// The sum of one form's contributions to a slot; null: there are none.
std::byte* ScatterStage::sumOf(uint32_t index, Form form, int* contributors) {
  *contributors = 0;
  if (setup_.order == SumOrder::kRank) {
    for (int rank = 0; rank < setup_.size; rank++) {
      *contributors +=
          forms_[rank] == form && contributed_[rank].test(index) ? 1 : 0;
    }
    return sumRows(index, form);
  }
  *contributors =
      form == form_ ? slots_[index].contributors : others_[index].contributors;
  if (*contributors == 0) {
    return nullptr;
  }
  return form == form_ ? accumulator(index) : others_[index].memory.data();
}

// Inverts the transformed part of the whole shard, scaled to the number of
// ranks that contributed to it.
void ScatterStage::gatherTransformed(std::byte* whole) {
  const int ranks = ranksIn(Form::kTransformed);
  std::memset(whole, 0, layout_.shardSize(ownShard()));
  for (uint32_t index = 0; index < slots(); index++) {
    int contributors = 0;
    const std::byte* const sum =
        sumOf(index, Form::kTransformed, &contributors);
    if (sum != nullptr) {
      std::byte* const at = whole + layout_.slotOffset(index);
      std::memcpy(at, sum, layout_.slotSize(ownShard(), index));
      scale(index, at, ranks, contributors);
    }
  }
  setup_.reduction->inverse(
      setup_.type,
      whole,
      layout_.shardSize(ownShard()) / elementSize(setup_.type),
      setup_.seed);
}

// Drops the transformed part, because there is no memory to invert it in.
void ScatterStage::dropTransformed() {
  for (int rank = 0; rank < setup_.size; rank++) {
    BitSet& in = contributed_[rank];
    for (uint32_t index = 0; index < in.size(); index++) {
      if (forms_[rank] == Form::kTransformed && in.clear(index)) {
        const bool other =
            setup_.order == SumOrder::kArrival && form_ != Form::kTransformed;
        (other ? others_[index] : slots_[index]).contributors--;
      }
    }
  }
}

// The memory for a slot's value while the caller is away: that of one of its
// sums.
ArenaBuffer ScatterStage::takePlace(uint32_t index) {
  Slot& slot = slots_[index];
  if (setup_.order == SumOrder::kRank) {
    ArenaBuffer place = setup_.arena->acquire(
        layout_.slotSize(ownShard(), index), setup_.account);
    return place ? std::move(place) : std::move(slot.memory);
  }
  Sum& plain = form_ == Form::kPlain ? slot : others_[index];
  Sum& transformed = form_ == Form::kPlain ? others_[index] : slot;
  return std::move(plain.memory ? plain.memory : transformed.memory);
}

void ScatterStage::closeMixed() {
  // The caller's op may allocate memory. Other ops use the arena.
  std::vector<std::byte> own(shard_ == nullptr ? 0
                                               : layout_.shardSize(ownShard()));
  ArenaBuffer lent;
  if (shard_ == nullptr) {
    lent = setup_.arena->acquire(layout_.shardSize(ownShard()));
  }
  std::byte* const whole = shard_ == nullptr ? lent.data() : own.data();
  if (whole == nullptr) {
    dropTransformed();
  } else {
    gatherTransformed(whole);
  }
  const int plain = ranksIn(Form::kPlain);
  const int transformed = ranksIn(Form::kTransformed);
  for (uint32_t index = 0; index < slots(); index++) {
    closeMixed(index, whole, plain, transformed);
  }
  others_.clear();
  form_ = Form::kPlain;
}

// `whole`: the inverted transformed part of the shard; null: there is none.
void ScatterStage::closeMixed(uint32_t index,
                              const std::byte* whole,
                              int plain,
                              int transformed) {
  Slot& slot = slots_[index];
  const size_t bytes = layout_.slotSize(ownShard(), index);
  const size_t elements = layout_.slotElements(ownShard(), index);
  const uint16_t in = contributors(index);
  int there = 0;
  const std::byte* const sum = sumOf(index, Form::kPlain, &there);
  ArenaBuffer kept;
  std::byte* place = accumulator(index);
  if (shard_ == nullptr && in > 0) {
    kept = takePlace(index);
    place = kept.data();
  }
  if (in > 0 && sum == nullptr) {
    std::memcpy(place, whole + layout_.slotOffset(index), bytes);
    scale(index, place, setup_.size, transformed);
  } else if (in > 0) {
    std::memmove(place, sum, bytes);
    scale(index, place, plain, there);
    if (whole != nullptr) {
      setup_.reduction->add(
          setup_.type, place, whole + layout_.slotOffset(index), elements);
    }
    scale(index, place, setup_.size, plain + transformed);
  } else if (shard_ != nullptr) {
    std::memset(place, 0, bytes);
  }
  slot.memory = std::move(kept);
  others_[index] = {};
  slot.contributors = in;
  slot.closed = true;
  closedOrder_.push_back(index);
}

}  // namespace ubt
