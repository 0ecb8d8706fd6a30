// SPDX-License-Identifier: Apache-2.0
#include "algorithms/rank_groups.h"

#include <gloo/common/error.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace gloo {
namespace {

using transport::ubt::Grouping;

constexpr char kVariable[] = "GLOO_UBT_GROUPS";

// Fewest rounds, 2 (N / G - 1) + (G - 1), of those G that send hardly more
// bytes than a plain transpose: G is at most N / G.
int suitable(int ranks) {
  int groups = 1;
  for (int i = 2; i * i <= ranks; i++) {
    groups = ranks % i == 0 ? i : groups;
  }
  return groups;
}

std::vector<int> equalGroups(int ranks, int groups) {
  std::vector<int> group(ranks);
  for (int rank = 0; rank < ranks; rank++) {
    group[rank] = rank / (ranks / groups);
  }
  return group;
}

std::vector<int> groupsByHost(const std::vector<GroupWish>& wishes) {
  std::map<uint64_t, int> known;
  std::vector<int> group;
  group.reserve(wishes.size());
  for (const auto& wish : wishes) {
    group.push_back(
        known.emplace(wish.host, static_cast<int>(known.size())).first->second);
  }
  return group;
}

std::string nameOf(size_t rank, const Grouping& grouping) {
  return "rank " + std::to_string(rank) + " has " + kVariable + "=" +
         grouping.str();
}

}  // namespace

RankGroups::RankGroups(std::vector<int> group)
    : group_(std::move(group)), place_(group_.size()) {
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

RankGroups RankGroups::agreed(const std::vector<GroupWish>& wishes) {
  const int ranks = static_cast<int>(wishes.size());
  const Grouping& grouping = wishes[0].grouping;
  for (size_t rank = 1; rank < wishes.size(); rank++) {
    if (wishes[rank].grouping != grouping) {
      throw ::gloo::IoException(
          "hierarchical transpose: " + nameOf(0, grouping) + ", " +
          nameOf(rank, wishes[rank].grouping) + ": set the same on all ranks");
    }
  }
  const std::string why = whyNot(grouping, ranks);
  if (!why.empty()) {
    throw ::gloo::InvalidOperationException("hierarchical transpose: " + why);
  }
  switch (grouping.by) {
    case Grouping::By::kHost:
      return RankGroups(groupsByHost(wishes));
    case Grouping::By::kCount:
      return RankGroups(equalGroups(ranks, static_cast<int>(grouping.count)));
    case Grouping::By::kSize:
      break;
  }
  return RankGroups(equalGroups(ranks, suitable(ranks)));
}

std::string RankGroups::whyNot(const Grouping& grouping, int ranks) {
  if (grouping.by != Grouping::By::kCount ||
      (grouping.count > 0 && ranks % int64_t{grouping.count} == 0)) {
    return "";
  }
  std::string possible;
  for (int i = 1; i <= ranks; i++) {
    if (ranks % i == 0) {
      possible += (possible.empty() ? "" : ", ") + std::to_string(i);
    }
  }
  return std::string(kVariable) + "=" + grouping.str() + ": " +
         std::to_string(ranks) + " ranks do not make so many equal groups; " +
         "set one of " + possible + ", or auto or host";
}

int RankGroups::owner(int group, int shard) const {
  const auto& members = members_[group];
  return members[static_cast<size_t>(shard) * members.size() / shards_];
}

// So that owner() of these, and of no others, is this rank.
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

// Members send an owner what it owns, partners each other what both own.
int RankGroups::shardsOfAPairMax() const {
  int most = 1;
  int mostOwned = 0;  // in the groups so far
  for (const auto& members : members_) {
    const int size = static_cast<int>(members.size());
    const int owned = (shards_ + size - 1) / size;
    most = std::max(most, size > 1 ? owned : std::min(owned, mostOwned));
    mostOwned = std::max(mostOwned, owned);
  }
  return most;
}

}  // namespace gloo
