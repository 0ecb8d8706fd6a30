// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transport_ubt/config/grouping.h"
#include "transport_ubt/core/base/rank_groups.h"

namespace ubt {

// The grouping that a rank wants for all ranks, and the host that it runs on.
struct GroupWish {
  Grouping grouping;
  uint64_t host = 0;  // hostId()
};

// The groups that follow from the ranks' wishes, indexed by rank. The result
// and any exception are the same on all ranks. Throws gloo::IoException that
// names two ranks whose groupings differ. Throws
// gloo::InvalidOperationException if the number of groups does not divide that
// of the ranks; it names the possible ones.
RankGroups agreedGroups(const std::vector<GroupWish>& wishes);

// Why `ranks` ranks cannot form this grouping; empty if they can.
std::string whyNotGrouped(const Grouping& grouping, int ranks);

}  // namespace ubt
