// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/rank_groups.h"
#include "transport_ubt/core/base/require.h"
#include "transport_ubt/sim/checker.h"

namespace ubt::sim {

// Whose contributions the results of one slot of an op sum, as its owners' own
// reports tell: one result for each group of its ranks.
class SlotSums {
 public:
  SlotSums(const RankGroups& groups,
           int shard,
           uint32_t slot,
           const std::vector<Outcome>& outcomes);

  // Whether the reports tell it of a group's result: those have returned that
  // it takes.
  bool known(int group) const { return sums_[group].known; }
  // In rank order; a part of them, unless known(group).
  const std::vector<int>& contributors(int group) const {
    return sums_[group].contributors;
  }
  // Whether it lacks some group's sum. REQUIRES known(group).
  bool partial(int group) const {
    UBT_REQUIRE(known(group));
    return sums_[group].partial;
  }

 private:
  struct Sum {
    bool known = true;
    bool partial = false;
    std::vector<int> contributors;
  };

  std::vector<Sum> sums_;  // by group
};

}  // namespace ubt::sim
