// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/rank_groups.h"
#include "transport_ubt/core/base/require.h"
#include "transport_ubt/sim/checker.h"

namespace ubt::sim {

// The contributors to the results of one slot, according to the reports of its
// owners. There is one result for each group of ranks.
class SlotSums {
 public:
  SlotSums(const RankGroups& groups,
           int shard,
           uint32_t slot,
           const std::vector<Outcome>& outcomes);

  // Whether the reports tell a group's contributors: all owners that it depends
  // on have returned.
  bool known(int group) const { return sums_[group].known; }
  // In rank order. Only a part of them, unless known(group).
  const std::vector<int>& contributors(int group) const {
    return sums_[group].contributors;
  }
  // Whether the result lacks some group's sum. REQUIRES known(group).
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
