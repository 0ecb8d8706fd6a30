// SPDX-License-Identifier: Apache-2.0
//
// Checks that the bytes in reports, by peer, are those that the network
// delivered.

#include <sstream>

#include "transport_ubt/sim/checker.h"

namespace ubt::sim {
namespace {

// The bytes of these slots of a shard, except those in `without`.
uint64_t bytesOf(const ShardLayout& layout,
                 Shard shard,
                 const std::set<uint32_t>& slots,
                 const std::set<uint32_t>& without) {
  uint64_t bytes = 0;
  for (const uint32_t slot : slots) {
    bytes += without.count(slot) > 0 ? 0 : layout.slotSize(shard, slot);
  }
  return bytes;
}

}  // namespace

void Checker::checkArrivals(const OpKey& key,
                            int rank,
                            const OpReport& report,
                            uint16_t context,
                            const Arrivals& arrivals) const {
  const OpShape shape = inputs_.shapeOf(key);
  const RankGroups groups = options_.groupsOf(shape);
  const ShardLayout layout(shape, groups.shards(), options_.slotBytes);
  const OpRanks ranks(rank, options_.ranks, &groups);
  for (int peer = 0; peer < options_.ranks; peer++) {
    for (const Stage stage : {Stage::kScatter, Stage::kBroadcast}) {
      const bool scatter = stage == Stage::kScatter;
      const StageBytes& told =
          scatter ? report.scatter[peer] : report.broadcast[peer];
      if (told.expected == 0) {
        continue;
      }
      const Shard shard = scatter || !ranks.isMember(peer)
                              ? ranks.shard()
                              : ranks.shardOf(peer);
      const Arrivals::Slots came = arrivals.of(context, report.op, stage, peer);
      const uint64_t taken = bytesOf(layout, shard, came.taken, {});
      const uint64_t inVain = bytesOf(layout, shard, came.inVain, came.taken);
      // A rank that enters once all slots are closed counts as absent, whatever
      // comes from it later.
      const bool absent = scatter && told.absent > 0;
      // If the arena has no room for the op's state, data that it refused
      // earlier is not counted.
      const bool vainTold = options_.arenaBytes < (1 << 20)
                                ? told.late + told.refused <= inVain
                                : told.late + told.refused == inVain;
      if (told.received != taken || (absent ? taken > 0 : !vainTold)) {
        std::ostringstream what;
        what << (scatter ? "scatter" : "broadcast") << " stage, rank " << peer
             << ": of " << told.expected << " bytes " << taken
             << " were taken and " << inVain
             << " arrived without use, but it reports received "
             << told.received << ", absent " << told.absent << ", late "
             << told.late << ", refused " << told.refused << ", cut "
             << told.cut << ", lost " << told.lost;
        fail(key, rank, what.str());
      }
    }
  }
}

}  // namespace ubt::sim
