// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/slot_sums.h"

namespace ubt::sim {

SlotSums::SlotSums(const RankGroups& groups,
                   int shard,
                   uint32_t slot,
                   const std::vector<Outcome>& outcomes)
    : sums_(groups.count()) {
  for (int group = 0; group < groups.count(); group++) {
    Sum& sum = sums_[group];
    const Outcome& own = outcomes[groups.owner(group, shard)];
    sum.known = own.there;
    for (int other = 0; sum.known && other < groups.count(); other++) {
      if (groups.count() > 1 && !own.report.sums[other].test(slot)) {
        sum.partial = true;
        continue;
      }
      const Outcome& owner = outcomes[groups.owner(other, shard)];
      sum.known = owner.there;
      for (const int rank : groups.members(other)) {
        if (sum.known && owner.report.contributors[rank].test(slot)) {
          sum.contributors.push_back(rank);
        }
      }
    }
  }
}

}  // namespace ubt::sim
