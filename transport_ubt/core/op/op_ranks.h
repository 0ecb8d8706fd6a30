// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_ubt/core/base/rank_groups.h"
#include "transport_ubt/core/base/require.h"

namespace ubt {

// Who takes part in which hop of an op, as one rank sees it. In a plain
// transpose all ranks are one group. Else the members of a group scatter and
// broadcast among themselves: there are as many shards as members, each owned
// by the member at that place; and the owners of one shard, one in each group,
// its co-owners, exchange their groups' sums of it.
class OpRanks {
 public:
  // `groups` of so many ranks, all of one size, has to outlive this; null: a
  // plain transpose.
  OpRanks(int rank, int size, const RankGroups* groups)
      : rank_(rank),
        size_(size),
        groups_(groups != nullptr && groups->count() > 1 ? groups : nullptr) {}

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool grouped() const { return groups_ != nullptr; }

  // The own group. A member's place is the number of the shard it owns.
  int members() const { return grouped() ? groups_->shards() : size_; }
  int place() const { return grouped() ? groups_->placeOf(rank_) : rank_; }
  int member(int place) const {
    return grouped() ? groups_->members(group())[place] : place;
  }
  bool isMember(int rank) const {
    return !grouped() || groups_->groupOf(rank) == group();
  }
  // REQUIRES isMember(rank).
  int placeOf(int rank) const {
    UBT_REQUIRE(isMember(rank));
    return grouped() ? groups_->placeOf(rank) : rank;
  }

  int groups() const { return grouped() ? groups_->count() : 1; }
  int group() const { return grouped() ? groups_->groupOf(rank_) : 0; }
  int groupOf(int rank) const { return grouped() ? groups_->groupOf(rank) : 0; }
  // Whether it owns what this rank owns, for another group.
  bool isCoOwner(int rank) const {
    return !isMember(rank) && groups_->placeOf(rank) == place();
  }

 private:
  const int rank_;
  const int size_;
  const RankGroups* const groups_;
};

}  // namespace ubt
