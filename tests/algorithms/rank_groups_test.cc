// SPDX-License-Identifier: Apache-2.0
#include "algorithms/rank_groups.h"

#include <gloo/common/error.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace gloo {
namespace {

using ubt::Grouping;

RankGroups equal(int ranks, uint32_t groups) {
  const GroupWish wish{{Grouping::By::kCount, groups}, 0};
  return agreedGroups(std::vector<GroupWish>(ranks, wish));
}

RankGroups suitable(int ranks) {
  return agreedGroups(std::vector<GroupWish>(ranks));
}

RankGroups byHost(const std::vector<int>& hosts) {
  std::vector<GroupWish> wishes;
  wishes.reserve(hosts.size());
  for (const int host : hosts) {
    wishes.push_back({{Grouping::By::kHost, 0}, static_cast<uint64_t>(host)});
  }
  return agreedGroups(wishes);
}

// The error of agreed().
template <typename Exception>
std::string refusal(const std::vector<GroupWish>& wishes) {
  try {
    agreedGroups(wishes);
  } catch (const Exception& error) {
    return error.what();
  }
  return "taken";
}

TEST(RankGroups, aSingleOneIsAPlainTranspose) {
  const auto groups = RankGroups::single(3);
  EXPECT_EQ(groups.count(), 1);
  EXPECT_EQ(groups.shards(), 3);
  for (int rank = 0; rank < 3; rank++) {
    EXPECT_EQ(groups.owner(0, rank), rank);
    EXPECT_EQ(groups.shardsOf(rank).first, rank);
    EXPECT_EQ(groups.shardsOf(rank).end, rank + 1);
  }
}

TEST(RankGroups, equalGroupsAreNeighbours) {
  const auto groups = equal(6, 2);
  EXPECT_EQ(groups.count(), 2);
  EXPECT_EQ(groups.shards(), 3);
  EXPECT_EQ(groups.members(0), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(groups.members(1), (std::vector<int>{3, 4, 5}));
  EXPECT_EQ(groups.owner(1, 2), 5);
  EXPECT_EQ(groups.shared(1, 4).first, 1);
  EXPECT_EQ(groups.shared(1, 4).end, 2);
  EXPECT_GE(groups.shared(1, 5).first, groups.shared(1, 5).end);
  EXPECT_EQ(groups.shardsOfAPairMax(), 1);
}

TEST(RankGroups, asManyAsSuitTheRanks) {
  const int expected[][2] = {
      {1, 1}, {2, 1}, {3, 1}, {4, 2}, {6, 2}, {7, 1}, {8, 2}, {9, 3}, {64, 8}};
  for (const auto& [ranks, count] : expected) {
    EXPECT_EQ(suitable(ranks).count(), count) << ranks << " ranks";
  }
}

// The second host's ranks need not be neighbours.
TEST(RankGroups, ranksOfAHostFormOne) {
  const auto groups = byHost({7, 9, 7, 9, 7});
  EXPECT_EQ(groups.count(), 2);
  EXPECT_EQ(groups.members(0), (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(groups.members(1), (std::vector<int>{1, 3}));
  EXPECT_EQ(groups.groupOf(3), 1);
  EXPECT_EQ(groups.placeOf(3), 1);
  EXPECT_EQ(groups.shards(), 3);
  // Of two members one owns two of the three shards.
  EXPECT_EQ(groups.owner(1, 0), 1);
  EXPECT_EQ(groups.owner(1, 1), 1);
  EXPECT_EQ(groups.owner(1, 2), 3);
  EXPECT_EQ(groups.shardsOfAPairMax(), 2);
  EXPECT_EQ(byHost({1, 1, 1, 2}).shardsOfAPairMax(), 1);
  EXPECT_EQ(byHost({1, 1, 1, 2, 3}).shardsOfAPairMax(), 3);
}

TEST(RankGroups, anotherWishIsNamedTheSameEverywhere) {
  std::vector<GroupWish> wishes(4, {{Grouping::By::kCount, 2}, 0});
  wishes[2].grouping.by = Grouping::By::kHost;
  EXPECT_EQ(refusal<IoException>(wishes),
            "hierarchical transpose: rank 0 has GLOO_UBT_GROUPS=2, rank 2 has "
            "GLOO_UBT_GROUPS=host: set the same on all ranks");
}

TEST(RankGroups, aNumberThatDoesNotDivideTheRanksIsRefused) {
  for (const uint32_t count : {0U, 4U, 7U, 12U, 1U << 31}) {
    const GroupWish wish{{Grouping::By::kCount, count}, 0};
    EXPECT_EQ(
        refusal<InvalidOperationException>({6, wish}),
        "hierarchical transpose: GLOO_UBT_GROUPS=" + std::to_string(count) +
            ": 6 ranks do not divide into that number of equal groups; set one "
            "of 1, 2, 3, 6, or auto or host");
  }
  EXPECT_EQ(whyNotGrouped({Grouping::By::kCount, 3}, 6), "");
  EXPECT_EQ(whyNotGrouped({Grouping::By::kHost, 0}, 7), "");
}

RC_GTEST_PROP(RankGroups, everyShardHasOneOwnerInEachGroup, ()) {
  const auto hosts = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6)));
  const auto groups = byHost(hosts);
  RC_ASSERT(groups.ranks() == static_cast<int>(hosts.size()));
  for (int rank = 0; rank < groups.ranks(); rank++) {
    for (int other = 0; other < rank; other++) {
      const bool together = groups.groupOf(rank) == groups.groupOf(other);
      const auto shards =
          together ? groups.shardsOf(rank) : groups.shared(rank, other);
      RC_ASSERT(shards.end - shards.first <= groups.shardsOfAPairMax());
    }
  }
  for (int group = 0; group < groups.count(); group++) {
    int next = 0;
    for (const int rank : groups.members(group)) {
      RC_ASSERT(groups.groupOf(rank) == group);
      RC_ASSERT(groups.members(group)[groups.placeOf(rank)] == rank);
      const auto shards = groups.shardsOf(rank);
      RC_ASSERT(shards.first == next);
      RC_ASSERT(shards.end > next);
      for (; next < shards.end; next++) {
        RC_ASSERT(groups.owner(group, next) == rank);
      }
    }
    RC_ASSERT(next == groups.shards());
  }
}

}  // namespace
}  // namespace gloo
