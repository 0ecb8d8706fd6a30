// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_ubt/core/base/rank_groups.h"
#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/op/shard_layout.h"

namespace ubt {

// The roles of ranks in an op, as one rank sees them. In a plain transpose all
// ranks are one group. In a hierarchical one, the members of a group scatter
// and broadcast among themselves. A group has as many shards as members, and
// each member owns one. The owners of the same shard in different
// groups are co-owners: they exchange their groups' sums.
class OpRanks {
 public:
  // `groups`, all of one size, must outlive this; null: a plain transpose.
  OpRanks(int rank, int size, const RankGroups* groups)
      : rank_(rank),
        size_(size),
        groups_(groups != nullptr && groups->count() > 1 ? groups : nullptr) {}

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool grouped() const { return groups_ != nullptr; }

  // The own group.
  int members() const { return grouped() ? groups_->shards() : size_; }
  Shard shard() const {
    return Shard(grouped() ? groups_->placeOf(rank_) : rank_);
  }
  bool isMember(int rank) const {
    return !grouped() || groups_->groupOf(rank) == group();
  }
  // REQUIRES isMember(rank).
  Shard shardOf(int rank) const {
    UBT_REQUIRE(isMember(rank));
    return Shard(grouped() ? groups_->placeOf(rank) : rank);
  }

  int groups() const { return grouped() ? groups_->count() : 1; }
  int group() const { return grouped() ? groups_->groupOf(rank_) : 0; }
  int ownerIn(int group, Shard shard) const {
    return grouped() ? groups_->owner(group, shard) : shard;
  }
  int groupOf(int rank) const { return grouped() ? groups_->groupOf(rank) : 0; }
  // The owners that send slots to this rank, and itself.
  int ownersHeard() const { return members() + groups() - 1; }
  // Whether it owns the same shard as this rank, in another group.
  bool isCoOwner(int rank) const {
    return !isMember(rank) && groups_->placeOf(rank) == shard();
  }
  // Whether slots of the own shard go to it: results, or the group's sum.
  bool takesSlots(int rank) const { return isMember(rank) || isCoOwner(rank); }

 private:
  const int rank_;
  const int size_;
  const RankGroups* const groups_;
};

}  // namespace ubt
