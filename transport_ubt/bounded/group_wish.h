// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transport_ubt/config/grouping.h"
#include "transport_ubt/core/base/rank_groups.h"

namespace gloo {
namespace transport {
namespace ubt {

// How a rank would have all ranks grouped, and where it runs.
struct GroupWish {
  Grouping grouping;
  uint64_t host = 0;  // hostId()
};

// What the ranks' wishes, by rank, come to. Throws gloo::IoException that names
// two ranks whose groupings differ, or gloo::InvalidOperationException that
// names a number of groups which does not divide the ranks, and those that do:
// the same on all ranks.
::ubt::RankGroups agreedGroups(const std::vector<GroupWish>& wishes);

// Why so many ranks cannot be grouped so; empty if they can.
std::string whyNotGrouped(const Grouping& grouping, int ranks);

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
