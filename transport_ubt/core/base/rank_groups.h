// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "transport_ubt/core/base/require.h"

namespace ubt {

// The groups of a hierarchical transpose, and who reduces which shard there.
//
// 1. Every rank is in exactly one group. Members stand in rank order, groups in
//    the order of their first members.
// 2. There are as many shards as the largest group has members. In each group
//    every shard has one owner, and every member owns at least one; what one
//    owns lies side by side. Where groups are of one size, the shard's number
//    is the owner's place in its group.
// 3. A function of what all ranks know: all have the same.
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

  // All in one group, where rank and shard are the same. REQUIRES ranks > 0.
  static RankGroups single(int ranks);

  // Takes the number of each rank's group; they count up from 0 in the order of
  // their first members. REQUIRES a rank.
  explicit RankGroups(std::vector<int> group);

  // `groups` equal ones of neighbours. REQUIRES groups > 0, a divisor of ranks.
  static RankGroups equal(int ranks, int groups);

  int count() const { return static_cast<int>(members_.size()); }
  int ranks() const { return static_cast<int>(group_.size()); }
  int groupOf(int rank) const { return group_[rank]; }
  const std::vector<int>& members(int group) const { return members_[group]; }
  // The place of a rank among its group's members.
  int placeOf(int rank) const { return place_[rank]; }

  // Whether all groups have as many members.
  bool even() const { return shards_ * count() == ranks(); }

  int shards() const { return shards_; }
  // The rank of a group that owns a shard.
  int owner(int group, int shard) const;
  // What a rank owns; never empty.
  Shards shardsOf(int rank) const;
  // What two ranks, of two groups, both own; may be empty: first >= end.
  Shards shared(int rank, int other) const;
  // How many shards' parts any rank may send another in one stage: 1 where
  // groups are of one size.
  int shardsOfAPairMax() const;

 private:
  std::vector<int> group_;  // by rank, as is place_
  std::vector<int> place_;
  std::vector<std::vector<int>> members_;  // by group
  int shards_ = 0;
};

}  // namespace ubt
