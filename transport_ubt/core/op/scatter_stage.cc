// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/scatter_stage.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "transport_ubt/core/base/require.h"

namespace ubt {

ScatterStage::ScatterStage(const ShardLayout& layout, const Setup& setup)
    : layout_(layout),
      setup_(setup),
      slots_(layout.slots(Shard(setup.rank))),
      forms_(setup.size),
      contributed_(setup.size, BitSet(layout.slots(Shard(setup.rank)))) {
  closedOrder_.reserve(slots_.size());
}

size_t ScatterStage::bytesFor(const ShardLayout& layout, Shard own, int size) {
  const size_t slots = layout.slots(own);
  return slots * (sizeof(Slot) + sizeof(Sum) + sizeof(uint32_t)) +
         size * (sizeof(BitSet) + BitSet::bytesFor(slots) +
                 sizeof(std::optional<Form>)) +
         BitSet::bytesFor(slots);
}

std::byte* ScatterStage::accumulator(uint32_t slot) {
  return shard_ != nullptr ? shard_ + layout_.slotOffset(slot)
                           : slots_[slot].memory.data();
}

// slots_ takes the form of the first contribution.
void ScatterStage::noteForm(int source, Form form) {
  if (forms_[source]) {
    return;
  }
  bool first = true;
  for (const auto& known : forms_) {
    first = first && !known;
  }
  forms_[source] = form;
  form_ = first ? form : form_;
  mixed_ = mixed_ || form != form_;
  if (mixed_ && others_.empty()) {
    others_.resize(slots_.size());
  }
}

// The source's contribution was not kept. Forgets its form if it has no other.
void ScatterStage::forgetForm(int source) {
  if (!contributed_[source].none()) {
    return;
  }
  forms_[source].reset();
  mixed_ = false;
  for (const auto& known : forms_) {
    mixed_ = mixed_ || known.value_or(form_) != form_;
  }
}

ScatterStage::Outcome ScatterStage::add(int source,
                                        uint32_t index,
                                        Form form,
                                        const std::byte* payload) {
  UBT_REQUIRE(source >= 0 && source < setup_.size && source != setup_.rank);
  UBT_REQUIRE(index < slots());
  Slot& slot = slots_[index];
  if (contributed_[source].test(index)) {
    return Outcome::kDuplicate;
  }
  if (slot.closed) {
    return Outcome::kLate;
  }
  if (forms_[source].value_or(form) != form) {
    return Outcome::kMismatched;
  }
  noteForm(source, form);
  bool kept;
  if (setup_.order == SumOrder::kRank) {
    kept = keep(source, index, payload);
  } else if (form == form_) {
    kept = accept(&slot, index, payload, shard_ != nullptr);
  } else {
    kept = accept(&others_[index], index, payload, false);
  }
  if (!kept) {
    forgetForm(source);
    return Outcome::kArenaFull;
  }
  contributed_[source].set(index);
  complete(index);
  return Outcome::kAccepted;
}

// Adds to a sum in the caller's memory (`here`) or in the arena. False: the
// arena has no room.
bool ScatterStage::accept(Sum* sum,
                          uint32_t index,
                          const std::byte* payload,
                          bool here) {
  const size_t bytes = layout_.slotSize(ownShard(), index);
  if (here || sum->contributors > 0) {
    setup_.reduction->add(
        setup_.type,
        here ? shard_ + layout_.slotOffset(index) : sum->memory.data(),
        payload,
        layout_.slotElements(ownShard(), index));
  } else {
    sum->memory = setup_.arena->acquire(bytes, setup_.account);
    if (!sum->memory) {
      return false;
    }
    std::memcpy(sum->memory.data(), payload, bytes);
  }
  sum->contributors++;
  return true;
}

// Rank order: the first contribution acquires room for all. False: there is
// none.
bool ScatterStage::keep(int source, uint32_t index, const std::byte* payload) {
  Slot& slot = slots_[index];
  const size_t bytes = layout_.slotSize(ownShard(), index);
  if (!slot.memory) {
    slot.memory =
        setup_.arena->acquire((setup_.size - 1) * bytes, setup_.account);
    if (!slot.memory) {
      return false;
    }
  }
  std::memcpy(row(source, index), payload, bytes);
  slot.contributors++;
  return true;
}

// Rank order: the place of a rank's contribution. The own one needs no row.
std::byte* ScatterStage::row(int source, uint32_t index) {
  if (source == setup_.rank) {
    return shard_ + layout_.slotOffset(index);
  }
  const int place = source < setup_.rank ? source : source - 1;
  return slots_[index].memory.data() +
         place * layout_.slotSize(ownShard(), index);
}

// Adds up the rows of a form, in the place of the first; null: there is none.
std::byte* ScatterStage::sumRows(uint32_t index, Form form) {
  std::byte* sum = nullptr;
  for (int source = 0; source < setup_.size; source++) {
    if (forms_[source] != form || !contributed_[source].test(index)) {
      continue;
    }
    std::byte* const addend = row(source, index);
    if (sum == nullptr) {
      sum = addend;
    } else {
      setup_.reduction->add(
          setup_.type, sum, addend, layout_.slotElements(ownShard(), index));
    }
  }
  return sum;
}

// Rank order: moves a slot's sum, one of its rows, to accumulator(). Null:
// there is none.
void ScatterStage::putSum(uint32_t index, std::byte* sum) {
  Slot& slot = slots_[index];
  const size_t bytes = layout_.slotSize(ownShard(), index);
  if (sum == nullptr) {
    return;
  }
  if (shard_ != nullptr) {
    std::byte* const own = shard_ + layout_.slotOffset(index);
    if (sum != own) {
      std::memcpy(own, sum, bytes);
    }
    slot.memory.reset();
    return;
  }
  // The rows are larger than the sum. If there is no other room, the sum stays
  // in them.
  ArenaBuffer kept = setup_.arena->acquire(bytes, setup_.account);
  if (kept) {
    std::memcpy(kept.data(), sum, bytes);
    slot.memory = std::move(kept);
  } else {
    std::memmove(slot.memory.data(), sum, bytes);
  }
}

void ScatterStage::enter(std::byte* shard, Form form) {
  shard_ = shard;
  const bool late = closed();
  if (!late) {
    noteForm(setup_.rank, form);
  }
  if (!late && form != form_) {
    swapForms();
  }
  for (uint32_t index = 0; index < slots(); index++) {
    Slot& slot = slots_[index];
    const size_t bytes = layout_.slotSize(ownShard(), index);
    std::byte* const own = shard + layout_.slotOffset(index);
    if (late) {
      if (slot.contributors == 0) {
        std::memset(own, 0, bytes);
      } else {
        std::memcpy(own, slot.memory.data(), bytes);
        slot.memory.reset();
      }
      continue;
    }
    if (slot.contributors > 0 && setup_.order == SumOrder::kArrival) {
      setup_.reduction->add(setup_.type,
                            own,
                            slot.memory.data(),
                            layout_.slotElements(ownShard(), index));
      slot.memory.reset();
    }
    contributed_[setup_.rank].set(index);
    slot.contributors++;
    complete(index);
  }
}

// The caller's form differs from the first one: its memory holds the sum of its
// own form.
void ScatterStage::swapForms() {
  for (uint32_t index = 0; index < slots(); index++) {
    if (setup_.order == SumOrder::kArrival) {
      std::swap(static_cast<Sum&>(slots_[index]), others_[index]);
    }
  }
  form_ = form_ == Form::kPlain ? Form::kTransformed : Form::kPlain;
}

// The slot has one more contribution, which may be the last.
void ScatterStage::complete(uint32_t index) {
  majorities_ += contributors(index) == setup_.size / 2 + 1;
  if (contributors(index) < setup_.size) {
    if (lacksOnlyLost(index)) {
      close(index);
    }
    return;
  }
  complete_++;
  if (!mixed_) {
    close(index);
  } else if (complete_ == slots_.size()) {
    closeMixed();
  }
}

void ScatterStage::lose(uint32_t index) {
  slots_[index].lost++;
  if (!slots_[index].closed && lacksOnlyLost(index)) {
    close(index);
  }
}

void ScatterStage::find(uint32_t index) {
  UBT_REQUIRE(!slots_[index].closed && slots_[index].lost > 0);
  slots_[index].lost--;
}

// Whether most ranks are in the slot, and the other contributions are lost.
// While a rank's form is unknown, ranks may turn out to differ in their forms.
// Then all slots have to close together.
bool ScatterStage::lacksOnlyLost(uint32_t index) const {
  const int here = contributors(index);
  const int lost = slots_[index].lost;
  return lost > 0 && here + lost == setup_.size && here > setup_.size / 2 &&
         !mixed_ &&
         std::all_of(forms_.begin(), forms_.end(), [](const auto& form) {
           return form.has_value();
         });
}

void ScatterStage::close(uint32_t index) {
  Slot& slot = slots_[index];
  slot.closed = true;
  closedOrder_.push_back(index);
  if (setup_.order == SumOrder::kRank) {
    putSum(index, sumRows(index, form_));
  }
  if (setup_.rescale) {
    scale(index, accumulator(index), setup_.size, slot.contributors);
  }
}

// Times ranks / contributors.
void ScatterStage::scale(uint32_t index,
                         std::byte* data,
                         int ranks,
                         int contributors) {
  if (contributors > 0 && contributors < ranks) {
    setup_.reduction->scale(setup_.type,
                            data,
                            static_cast<double>(ranks) / contributors,
                            layout_.slotElements(ownShard(), index));
  }
}

bool ScatterStage::lacksMoreThan(double share) const {
  double lacking = 0;
  double all = 0;
  for (uint32_t index = 0; index < slots(); index++) {
    const double elements = layout_.slotElements(ownShard(), index);
    lacking += elements * (setup_.size - contributors(index));
    all += elements * setup_.size;
  }
  return lacking > share * all;
}

// Replaces the slot's value.
void ScatterStage::zero(uint32_t index) {
  Slot& slot = slots_[index];
  if (shard_ != nullptr) {
    std::memset(shard_ + layout_.slotOffset(index),
                0,
                layout_.slotSize(ownShard(), index));
  }
  static_cast<Sum&>(slot) = Sum();
  if (!others_.empty()) {
    others_[index] = Sum();
  }
  slot.closed = true;
  closedOrder_.push_back(index);
  zeroed_.set(index);
  zeroedElements_ += layout_.slotElements(ownShard(), index);
}

BitSet ScatterStage::summed(int rank) const {
  BitSet summed = contributed_[rank];
  for (size_t index = zeroed_.firstSet(0); index < zeroed_.size();
       index = zeroed_.firstSet(index + 1)) {
    summed.clear(index);
  }
  return summed;
}

void ScatterStage::closeAll(double zeroLoss) {
  if (zeroLoss > 0 && !closed() && lacksMoreThan(zeroLoss)) {
    zeroed_ = BitSet(slots());
    for (uint32_t index = 0; index < slots(); index++) {
      if (!slots_[index].closed) {
        zero(index);
      }
    }
    return;
  }
  if (mixed_ && !closed()) {
    closeMixed();
    return;
  }
  for (uint32_t index = 0; index < slots(); index++) {
    if (!slots_[index].closed) {
      close(index);
    }
  }
}

uint32_t ScatterStage::leave(uint32_t firstNeeded, ArenaBuffer* room) {
  UBT_REQUIRE(closed());
  uint32_t dropped = 0;
  for (uint32_t index = firstNeeded; index < slots(); index++) {
    Slot& slot = slots_[index];
    const size_t bytes = layout_.slotSize(ownShard(), index);
    slot.memory = setup_.arena->acquireFrom(room, bytes);
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
  UBT_REQUIRE(isClosed(index));
  return shard_ != nullptr ? shard_ + layout_.slotOffset(index)
                           : slots_[index].memory.data();
}

}  // namespace ubt
