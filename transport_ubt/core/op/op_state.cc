// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/op_state.h"

#include <algorithm>

namespace ubt {
namespace {

const BitSet kNothing;

}  // namespace

OpState::OpState(const Setup& setup,
                 const OpParts& parts,
                 const OpBounds& bounds)
    : setup(setup),
      parts(parts),
      bounds(bounds),
      owned(layout,
            ranks,
            {setup.id,
             setup.shape.type,
             setup.options,
             setup.reduction,
             setup.arena,
             &heldBytes}),
      broadcast(layout,
                ranks.shard(),
                ranks.members(),
                ranks.size(),
                setup.arena,
                &heldBytes),
      bucket(layout,
             {setup.id,
              setup.shape.type,
              ranks.members(),
              ranks.size(),
              setup.reduction}),
      attendance(
          ranks.rank(), ranks.size(), ranks.members() - 1 + ranks.groups() - 1),
      clock(setup.begunAt),
      outbox({&layout,
              &ranks,
              &attendance,
              &owned,
              &broadcast,
              &bucket,
              setup.options->loops == Loops::kPaper}),
      scatterRun(ranks.size()),
      exchangeRun(ranks.grouped() ? ranks.size() : 1),
      broadcastRun(ranks.size()) {
  const Shard own = ranks.shard();
  for (int peer = 0; peer < ranks.size(); peer++) {
    const bool member = ranks.isMember(peer);
    const Shard shard = member ? ranks.shardOf(peer) : Shard(0);
    if (peer != ranks.rank() && member) {
      // The contribution leaves only once the caller has brought it.
      scatterRun.expect(peer, layout.slots(own), layout.shardSize(own));
      broadcastRun.expect(peer, layout.slots(shard), layout.shardSize(shard));
    } else if (ranks.isCoOwner(peer)) {
      exchangeRun.expect(peer, layout.slots(own), layout.shardSize(own));
    }
  }
}

Duration OpState::limit() const {
  return bounds.byHand() && !needsEveryResult()
             ? std::min(bounds.limit,
                        bounds.scatter + bounds.exchange + bounds.broadcast)
             : bounds.limit;
}

int OpState::sendersPending() const {
  const StageProgress& progress = scatterRun.progress();
  const auto over = static_cast<int>(repairsScatter() ? progress.complete()
                                                      : progress.ended());
  return othersEntered() - over;
}

bool OpState::owesContributions(int rank) const {
  return ranks.isMember(rank) &&
         !owned.sum().contributed(ranks.shardOf(rank)).all();
}

StageRun::Cause OpState::causeOf(int rank) const {
  return !attendance.hasEntered(rank) ? StageRun::Cause::kAbsent
         : isCut(scatterRun, rank)    ? StageRun::Cause::kCut
                                      : StageRun::Cause::kLost;
}

const BitSet& OpState::received(int rank) const {
  if (ranks.isMember(rank)) {
    return broadcast.received(ranks.shardOf(rank));
  }
  return ranks.isCoOwner(rank) ? owned.exchange()->received(ranks.groupOf(rank))
                               : kNothing;
}

}  // namespace ubt
