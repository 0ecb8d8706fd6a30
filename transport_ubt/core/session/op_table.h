// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "transport_ubt/core/op/op.h"
#include "transport_ubt/core/session/tag_counts.h"
#include "transport_ubt/core/wire/op_id.h"

namespace ubt {

// The ops of one session that are open here, and the use counts of tags. An op
// is here from its first news until it is done on all ranks. The table also
// measures, for each rank, the ops that only this rank has begun
// (Op::soleAnnouncer).
class OpTable {
 public:
  // Peers begin no further op while this many are open. Own calls do.
  static constexpr size_t kOpsMax = 256;

  // `ranks`: of the session. `tagEntriesMax`: as in Options.
  OpTable(int ranks, size_t tagEntriesMax);

  // In the order of ids.
  auto begin() { return ops_.begin(); }
  auto end() { return ops_.end(); }
  auto begin() const { return ops_.begin(); }
  auto end() const { return ops_.end(); }
  // The op that began here first comes first.
  const std::vector<Op*>& oldestFirst() const { return oldestFirst_; }
  bool empty() const { return ops_.empty(); }
  size_t size() const { return ops_.size(); }
  bool full() const { return ops_.size() >= kOpsMax; }

  // Null: it is not here.
  Op* find(const OpId& id);
  const Op* find(const OpId& id) const;
  // REQUIRES that no op with this id is here.
  Op* add(const OpId& id, std::unique_ptr<Op> op);
  void erase(const OpId& id);
  void clear();
  // Erases each op with `which(op)`, and returns their number.
  template <typename Which>
  size_t eraseIf(const Which& which);

  template <typename Which>
  bool any(const Which& which) const {
    return std::any_of(ops_.begin(), ops_.end(), [&](const auto& entry) {
      return which(*entry.second);
    });
  }

  // Ids (TagCounts). useTag() REQUIRES knowsTag().
  bool knowsTag(uint32_t tag, TagSpace space) const {
    return tagsOf(space).knows(tag);
  }
  OpId useTag(uint32_t tag, TagSpace space) {
    return {tag, tagsOf(space).use(tag), space};
  }
  // Whether a caller here has used that id.
  bool wasUsed(const OpId& id) const {
    return id.count < tagsOf(id.space).used(id.tag);
  }

  // What is held for a rank, in bytes of the arena or in ops.
  enum class Measure : uint8_t { kBytes, kOps };
  struct Holder {
    int rank = -1;  // there is none
    size_t held = 0;
    OpId newest;  // of its ops
  };
  size_t heldFor(int rank, Measure measure) const {
    return heldByRank(measure)[rank];
  }
  // The rank that holds most. It must hold more than `share`, and not be
  // `except`. If `wanted` exceeds a share, it must hold that even without its
  // newest op. Otherwise two ranks would evict each other's ops in turns.
  Holder greediest(Measure measure,
                   size_t share,
                   int except,
                   size_t wanted) const;

 private:
  static size_t measured(const Op& op, Measure measure) {
    return measure == Measure::kBytes ? op.heldBytes() : 1;
  }
  std::vector<size_t> heldByRank(Measure measure) const;
  TagCounts& tagsOf(TagSpace space) {
    return tags_[static_cast<size_t>(space)];
  }
  const TagCounts& tagsOf(TagSpace space) const {
    return tags_[static_cast<size_t>(space)];
  }

  const int ranks_;
  std::map<OpId, std::unique_ptr<Op>> ops_;
  std::vector<Op*> oldestFirst_;            // the same
  std::array<TagCounts, kTagSpaces> tags_;  // by space
};

template <typename Which>
size_t OpTable::eraseIf(const Which& which) {
  const size_t before = ops_.size();
  for (auto next = ops_.begin(); next != ops_.end();) {
    const auto at = next++;
    if (which(*at->second)) {
      erase(at->first);
    }
  }
  return before - ops_.size();
}

}  // namespace ubt
