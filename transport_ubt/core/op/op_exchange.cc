// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical ops: between scatter and broadcast, the owners of a shard
// exchange their groups' sums.

#include <algorithm>

#include "transport_ubt/core/op/op.h"

namespace ubt {

// Some slots of the own group's sum may have closed.
void Op::slotsClosed(TimePoint now) {
  if (state_.owned.sum().closed()) {
    closeScatter(now);
  } else {
    noteExchange(now);
  }
}

// Gives closed slots of the own group's sum to the exchange, which may be over
// then.
void Op::noteExchange(TimePoint now) {
  if (!state_.owned.exchangeSums()) {
    return;
  }
  state_.exchangeRun.closedAt = now;
  if (!state_.exchangeRun.expired) {
    state_.exchangeRun.took =
        std::max(now - state_.scatterRun.closedAt, Duration{1});
  }
}

Counter Op::sumData(TimePoint now,
                    const PacketHeader& header,
                    const std::byte* payload) {
  const int rank = header.source;
  const size_t bytes =
      state_.layout.slotSize(state_.ranks.shard(), header.slot);
  const auto add = [&] {
    return state_.owned.exchange()->add(
        state_.ranks.groupOf(rank), header.slot, header.contributors, payload);
  };
  auto outcome = add();
  if (outcome == ExchangeStage::Outcome::kArenaFull &&
      state_.setup.host->makeRoom(soleAnnouncer(), bytes)) {
    outcome = add();
  }
  switch (outcome) {
    case ExchangeStage::Outcome::kArenaFull:
      state_.exchangeRun.turnAway(rank, header.slot, state_.owned.slots());
      return Counter::kArenaFull;
    case ExchangeStage::Outcome::kDuplicate:
      return Counter::kDuplicateData;
    case ExchangeStage::Outcome::kLate:
      if (state_.exchangeRun.turnAway(
              rank, header.slot, state_.owned.slots())) {
        state_.exchangeRun.countLate(rank, header.slot, bytes);
      }
      return Counter::kLateData;
    case ExchangeStage::Outcome::kAccepted:
      break;
  }
  state_.exchangeRun.arrived(
      now, rank, {bytes, header.repair, header.lastPercentile});
  requests_.arrived(now, rank, Stage::kBroadcast);
  noteExchange(now);
  noteProgress(now);
  return Counter::kAcceptedData;
}

// Goes on without the missing sums. No-op if there are none.
void Op::expireExchange(TimePoint now) {
  if (state_.owned.exchanged()) {
    return;
  }
  if (!state_.owned.sum().closed()) {
    expireScatter(now);
  }
  if (state_.owned.exchanged()) {  // only the own group's sum was missing
    return;
  }
  state_.exchangeRun.expired = true;
  state_.owned.exchange()->closeAll();
  noteExchange(now);
  noteProgress(now);
}

void Op::reportExchange(OpReport* report) const {
  if (state_.owned.exchange() == nullptr) {
    return;
  }
  report->exchangeExpired = state_.exchangeRun.expired;
  for (int group = 0; group < state_.ranks.groups(); group++) {
    report->sums.push_back(state_.owned.exchange()->received(group));
  }
  for (int shard = 0; shard < state_.ranks.members(); shard++) {
    report->shardOwners.push_back(state_.ranks.ownerIn(0, Shard(shard)));
  }
  report->partial = state_.broadcast.partial(state_.setup.shape.type);
  const Shard own = state_.ranks.shard();
  for (uint32_t slot = 0; slot < state_.owned.exchange()->slots(); slot++) {
    if (state_.owned.exchange()->partial(slot)) {
      report->partial.push_back(
          {(state_.layout.shardOffset(own) + state_.layout.slotOffset(slot)) /
               elementSize(state_.setup.shape.type),
           state_.layout.slotElements(own, slot)});
    }
  }
  for (const OpReport::Range& range : report->partial) {
    report->driftElements += range.count;
  }
}

}  // namespace ubt
