// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/group_wish.h"

#include <gloo/common/error.h>

#include <cstddef>
#include <map>

namespace ubt {
namespace {

constexpr char kVariable[] = "GLOO_UBT_GROUPS";

// The number of groups G with the fewest rounds, 2 (N/G - 1) + (G - 1), and
// with G <= N/G. Ranks then send hardly more bytes than in a plain transpose.
int suitable(int ranks) {
  int groups = 1;
  for (int i = 2; i * i <= ranks; i++) {
    groups = ranks % i == 0 ? i : groups;
  }
  return groups;
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

RankGroups agreedGroups(const std::vector<GroupWish>& wishes) {
  const int ranks = static_cast<int>(wishes.size());
  const Grouping& grouping = wishes[0].grouping;
  for (size_t rank = 1; rank < wishes.size(); rank++) {
    if (wishes[rank].grouping != grouping) {
      throw gloo::IoException("hierarchical transpose: " + nameOf(0, grouping) +
                              ", " + nameOf(rank, wishes[rank].grouping) +
                              ": set the same on all ranks");
    }
  }
  const std::string why = whyNotGrouped(grouping, ranks);
  if (!why.empty()) {
    throw gloo::InvalidOperationException("hierarchical transpose: " + why);
  }
  switch (grouping.by) {
    case Grouping::By::kHost:
      return RankGroups(groupsByHost(wishes));
    case Grouping::By::kCount:
      return RankGroups::equal(ranks, static_cast<int>(grouping.count));
    case Grouping::By::kSize:
      break;
  }
  return RankGroups::equal(ranks, suitable(ranks));
}

std::string whyNotGrouped(const Grouping& grouping, int ranks) {
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
         std::to_string(ranks) +
         " ranks do not divide into that number of equal groups; " +
         "set one of " + possible + ", or auto or host";
}

}  // namespace ubt
