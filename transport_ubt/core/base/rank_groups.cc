// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/base/rank_groups.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "transport_ubt/core/base/require.h"

namespace ubt {

RankGroups::RankGroups(std::vector<int> group)
    : group_(std::move(group)), place_(group_.size()) {
  UBT_REQUIRE(!group_.empty());
  for (size_t rank = 0; rank < group_.size(); rank++) {
    const size_t number = group_[rank];
    members_.resize(std::max(members_.size(), number + 1));
    auto& members = members_[number];
    place_[rank] = static_cast<int>(members.size());
    members.push_back(static_cast<int>(rank));
    shards_ = std::max(shards_, static_cast<int>(members.size()));
  }
}

RankGroups RankGroups::single(int ranks) {
  return RankGroups(std::vector<int>(ranks, 0));
}

RankGroups RankGroups::equal(int ranks, int groups) {
  UBT_REQUIRE(groups > 0 && ranks % groups == 0);
  std::vector<int> group(ranks);
  for (int rank = 0; rank < ranks; rank++) {
    group[rank] = rank / (ranks / groups);
  }
  return RankGroups(group);
}

int RankGroups::owner(int group, int shard) const {
  const auto& members = members_[group];
  return members[static_cast<size_t>(shard) * members.size() / shards_];
}

// The inverse of owner(): exactly these shards have this rank as their owner.
RankGroups::Shards RankGroups::shardsOf(int rank) const {
  const auto members = static_cast<int64_t>(members_[group_[rank]].size());
  const auto first = [&](int64_t place) {
    return static_cast<int>((place * shards_ + members - 1) / members);
  };
  return {first(place_[rank]), first(place_[rank] + 1)};
}

RankGroups::Shards RankGroups::shared(int rank, int other) const {
  const Shards a = shardsOf(rank);
  const Shards b = shardsOf(other);
  return {std::max(a.first, b.first), std::min(a.end, b.end)};
}

// Members of a group send an owner the shards that it owns. Partners in two
// groups send each other the shards that both own.
int RankGroups::shardsOfAPairMax() const {
  int most = 1;
  int mostOwned = 0;  // maximum over earlier groups
  for (const auto& members : members_) {
    const int size = static_cast<int>(members.size());
    const int owned = (shards_ + size - 1) / size;
    most = std::max(most, size > 1 ? owned : std::min(owned, mostOwned));
    mostOwned = std::max(mostOwned, owned);
  }
  return most;
}

}  // namespace ubt
