// SPDX-License-Identifier: Apache-2.0
#include "tests/chooser/op_check.h"

#include <algorithm>
#include <cstring>

#include "transport_ubt/core/base/require.h"

namespace ubt::chooser {
namespace {

constexpr unsigned kUnknown = ~0u;

bool isFilled(const OpReport& report, size_t element) {
  return std::any_of(
      report.filled.begin(), report.filled.end(), [element](const auto& range) {
        return element >= range.offset && element < range.offset + range.count;
      });
}

int countOf(unsigned set) {
  return __builtin_popcount(set);
}

}  // namespace

OpCheck::OpCheck(int ranks, int slots, size_t slotBytes, const Options& options)
    : ranks_(ranks),
      slots_(slots),
      slotElements_(slotBytes / sizeof(float)),
      options_(options) {
  UBT_REQUIRE(ranks > 1 && ranks <= 4);
}

OpShape OpCheck::shape() const {
  OpShape shape;
  shape.elements = ranks_ * slots_ * slotElements_;
  shape.fingerprint = options_.fingerprint();
  return shape;
}

// Each rank has its own three bits. So no two sets of ranks have the same sum,
// rescaled or not.
float OpCheck::contribution(int op, int rank, size_t element) const {
  return static_cast<float>((1 + (element * 3 + op) % 7) << (3 * rank));
}

float OpCheck::sum(int op, unsigned set, size_t element) const {
  float sum = 0;
  for (int rank = 0; rank < ranks_; rank++) {
    sum += set >> rank & 1 ? contribution(op, rank, element) : 0;
  }
  const int count = countOf(set);
  // Rounds once, like the core's reduction in tests.
  const double factor = static_cast<double>(ranks_) / count;
  return count == 0 ? 0 : static_cast<float>(sum * factor);
}

bool OpCheck::isSum(int op,
                    unsigned set,
                    const Slot& slot,
                    const Outcome& outcome) const {
  for (size_t i = slot.begin; i < slot.end; i++) {
    if (outcome.result[i] != sum(op, set, i)) {
      return false;
    }
  }
  return true;
}

std::string OpCheck::checkReport(int rank, const OpReport& report) const {
  const uint64_t shard = slots_ * slotElements_ * sizeof(float);
  for (int peer = 0; peer < ranks_; peer++) {
    for (const auto* stage : {&report.scatter, &report.broadcast}) {
      const StageBytes& bytes = (*stage)[peer];
      if (bytes.expected != (peer == rank ? 0 : shard) ||
          bytes.sum() != bytes.expected || bytes.repaired > bytes.received) {
        return "rank " + std::to_string(rank) +
               ": a report's bytes do not add up, of rank " +
               std::to_string(peer);
      }
    }
  }
  if (options_.needsEveryResult() &&
      (report.driftElements > 0 || !report.filled.empty())) {
    return "rank " + std::to_string(rank) + " drifts";
  }
  return "";
}

// All ranks hold the same bits, except where they report that a result is
// missing.
std::string OpCheck::checkSlot(int op,
                               const Slot& slot,
                               const std::vector<Outcome>& outcomes,
                               bool calm) const {
  const Outcome& owner = outcomes[slot.owner];
  unsigned set = kUnknown;
  if (owner.there) {
    set = 0;
    for (int rank = 0; rank < ranks_; rank++) {
      const bool in = owner.report.contributors[rank].test(slot.index);
      set |= in ? 1u << rank : 0;
    }
  }
  for (int rank = 0; rank < ranks_; rank++) {
    const Outcome& mine = outcomes[rank];
    if (!mine.there) {
      continue;
    }
    const std::string where = "rank " + std::to_string(rank) + ", shard " +
                              std::to_string(slot.owner) + ", slot " +
                              std::to_string(slot.index) + ": ";
    if (isFilled(mine.report, slot.begin)) {
      if (!isSum(op, 0, slot, mine)) {
        return where + "a missing slot that is not zero";
      }
      continue;
    }
    for (unsigned i = 0; set == kUnknown && i < 1u << ranks_; i++) {
      set = isSum(op, i, slot, mine) ? i : kUnknown;
    }
    if (set == kUnknown || !isSum(op, set, slot, mine)) {
      return where + "not the sum of its contributors, or another one than " +
             "other ranks'";
    }
  }
  if (set != kUnknown && calm && 2 * countOf(set) <= ranks_) {
    return "shard " + std::to_string(slot.owner) + " leaves most ranks out";
  }
  return "";
}

std::string OpCheck::check(int op,
                           const std::vector<Outcome>& outcomes,
                           bool calm) const {
  for (int rank = 0; rank < ranks_; rank++) {
    if (outcomes[rank].there) {
      std::string bad = checkReport(rank, outcomes[rank].report);
      if (!bad.empty()) {
        return bad;
      }
    }
  }
  for (int owner = 0; owner < ranks_; owner++) {
    for (size_t index = 0; index < slots_; index++) {
      const size_t begin = (owner * slots_ + index) * slotElements_;
      std::string bad = checkSlot(
          op, {owner, index, begin, begin + slotElements_}, outcomes, calm);
      if (!bad.empty()) {
        return bad;
      }
    }
  }
  return "";
}

}  // namespace ubt::chooser
