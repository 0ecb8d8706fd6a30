// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/session/op_table.h"

#include <algorithm>
#include <utility>

#include "transport_ubt/core/base/require.h"

namespace ubt {

OpTable::OpTable(int ranks, size_t tagEntriesMax)
    : ranks_(ranks),
      tags_{TagCounts(tagEntriesMax), TagCounts(tagEntriesMax)} {}

Op* OpTable::find(const OpId& id) {
  const auto found = ops_.find(id);
  return found == ops_.end() ? nullptr : found->second.get();
}

const Op* OpTable::find(const OpId& id) const {
  return const_cast<OpTable*>(this)->find(id);
}

Op* OpTable::add(const OpId& id, std::unique_ptr<Op> op) {
  UBT_REQUIRE(find(id) == nullptr);
  oldestFirst_.push_back(op.get());
  return ops_.emplace(id, std::move(op)).first->second.get();
}

void OpTable::erase(const OpId& id) {
  const auto found = ops_.find(id);
  if (found != ops_.end()) {
    oldestFirst_.erase(std::find(
        oldestFirst_.begin(), oldestFirst_.end(), found->second.get()));
    ops_.erase(found);
  }
}

void OpTable::clear() {
  oldestFirst_.clear();
  ops_.clear();
}

std::vector<size_t> OpTable::heldByRank(Measure measure) const {
  std::vector<size_t> held(ranks_);
  for (const auto& [id, op] : ops_) {
    if (op->soleAnnouncer() >= 0) {
      held[op->soleAnnouncer()] += measured(*op, measure);
    }
  }
  return held;
}

OpTable::Holder OpTable::greediest(Measure measure,
                                   size_t share,
                                   int except,
                                   size_t wanted) const {
  struct Newest {
    OpId id;
    TimePoint begunAt{};
    size_t held = 0;
  };
  std::vector<Newest> newest(ranks_);
  for (const auto& [id, op] : ops_) {
    if (op->soleAnnouncer() >= 0 &&
        op->begunAt() >= newest[op->soleAnnouncer()].begunAt) {
      newest[op->soleAnnouncer()] = {id, op->begunAt(), measured(*op, measure)};
    }
  }
  const std::vector<size_t> held = heldByRank(measure);
  Holder found;
  for (int rank = 0; rank < ranks_; rank++) {
    const size_t rest = held[rank] - newest[rank].held;
    if (rank != except && held[rank] > std::max(share, found.held) &&
        (wanted <= share || rest >= wanted)) {
      found = {rank, held[rank], newest[rank].id};
    }
  }
  return found;
}

}  // namespace ubt
