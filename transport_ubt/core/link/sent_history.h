// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// Which slots the latest packet numbers of one direction carried, so that a
// receiver can ask for numbers that got lost. Numbers of consecutive slots
// share an entry. Not thread-safe.
class SentHistory {
 public:
  static constexpr size_t kRunsMax = 512;

  // Slots first, first + 1, ... of one stage of an op.
  struct Run {
    uint64_t number = 0;
    OpId op;
    Stage stage{};
    uint32_t slot = 0;
    uint32_t slots = 0;
  };

  // Numbers are added in their order.
  void add(uint64_t number, const OpId& op, Stage stage, uint32_t slot) {
    if (!runs_.empty()) {
      Run& last = runs_.back();
      if (last.number + last.slots == number && last.op == op &&
          last.stage == stage && last.slot + last.slots == slot) {
        last.slots++;
        return;
      }
    }
    if (runs_.size() == kRunsMax) {
      runs_.pop_front();
    }
    runs_.push_back({number, op, stage, slot, 1});
  }

  // Calls act(run) for the slots that the numbers `first`, first + 1, ...
  // carried, of `count` numbers. Skips numbers that it has forgotten.
  template <typename Act>
  void find(uint64_t first, uint64_t count, const Act& act) const {
    const uint64_t end = first + std::min(count, UINT64_MAX - first);
    auto run = std::upper_bound(
        runs_.begin(), runs_.end(), first, [](uint64_t number, const Run& r) {
          return number < r.number + r.slots;
        });
    for (; run != runs_.end() && run->number < end; ++run) {
      const uint64_t from = std::max(first, run->number);
      const uint64_t to = std::min(end, run->number + run->slots);
      if (from < to) {
        act(Run{from,
                run->op,
                run->stage,
                static_cast<uint32_t>(run->slot + (from - run->number)),
                static_cast<uint32_t>(to - from)});
      }
    }
  }

 private:
  std::deque<Run> runs_;  // in the order of their numbers
};

}  // namespace ubt
