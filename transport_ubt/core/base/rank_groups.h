// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "transport_ubt/core/base/require.h"

namespace ubt {

// The groups of a hierarchical transpose, and which rank reduces which shard in
// each group.
//
// 1. Every rank is in exactly one group. Members stand in rank order, groups in
//    the order of their first members.
// 2. There are as many shards as the largest group has members. In each group
//    every shard has one owner and every member owns at least one shard. The
//    shards of one owner are consecutive. If all groups have the same size, a
//    shard's number is its owner's place in the group.
// 3. The groups depend only on facts that all ranks know, so they are the same
//    on all ranks.
class RankGroups {
 public:
  struct Shards {
    // REQUIRES first <= end.
    size_t count() const {
      UBT_REQUIRE(first <= end);
      return end - first;
    }

    int first;
    int end;
  };

  // All ranks in one group, where rank and shard are the same. REQUIRES
  // ranks > 0.
  static RankGroups single(int ranks);

  // `group` holds the number of each rank's group. Group numbers count up from
  // 0 in the order of their first members. REQUIRES at least one rank.
  explicit RankGroups(std::vector<int> group);

  // `groups` groups of equal size, each of consecutive ranks. REQUIRES
  // groups > 0 and that `groups` divides ranks.
  static RankGroups equal(int ranks, int groups);

  int count() const { return static_cast<int>(members_.size()); }
  int ranks() const { return static_cast<int>(group_.size()); }
  int groupOf(int rank) const { return group_[rank]; }
  const std::vector<int>& members(int group) const { return members_[group]; }
  // The place of a rank among its group's members.
  int placeOf(int rank) const { return place_[rank]; }

  // Whether all groups have the same size.
  bool even() const { return shards_ * count() == ranks(); }

  int shards() const { return shards_; }
  // The rank of a group that owns a shard.
  int owner(int group, int shard) const;
  // The shards that a rank owns; never empty.
  Shards shardsOf(int rank) const;
  // The shards that two ranks of different groups both own. If there are none,
  // first >= end.
  Shards shared(int rank, int other) const;
  // The maximum number of shards that one rank sends to another in one stage.
  // It is 1 if all groups have the same size.
  int shardsOfAPairMax() const;

 private:
  std::vector<int> group_;  // by rank, like place_
  std::vector<int> place_;
  std::vector<std::vector<int>> members_;  // by group
  int shards_ = 0;
};

}  // namespace ubt
