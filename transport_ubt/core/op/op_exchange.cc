// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical ops: between scatter and broadcast, the owners of a shard
// exchange their groups' sums.

#include <algorithm>

#include "transport_ubt/core/op/op.h"

namespace ubt {
namespace {

const BitSet kNothing;

}  // namespace

// The slots received from a member (results) or from a co-owner (its group's
// sum).
const BitSet& Op::received(int rank) const {
  if (ranks_.isMember(rank)) {
    return broadcast_.received(ranks_.shardOf(rank));
  }
  return ranks_.isCoOwner(rank)
             ? owned_.exchange()->received(ranks_.groupOf(rank))
             : kNothing;
}

bool Op::owesContributions(int rank) const {
  return ranks_.isMember(rank) &&
         !owned_.sum().contributed(ranks_.shardOf(rank)).all();
}

// Some slots of the own group's sum may have closed.
void Op::slotsClosed(TimePoint now) {
  if (owned_.sum().closed()) {
    closeScatter(now);
  } else {
    noteExchange(now);
  }
}

// From now on the op waits for sums of other groups.
void Op::awaitSums(TimePoint now) {
  for (int rank = 0; rank < ranks_.size(); rank++) {
    if (ranks_.isCoOwner(rank) && exchangeRun_.repairs.at(rank) == kNever) {
      schedule(&exchangeRun_.repairs, now, rank);
    }
  }
}

// Gives closed slots of the own group's sum to the exchange, which may be over
// then.
void Op::noteExchange(TimePoint now) {
  if (!owned_.exchangeSums()) {
    return;
  }
  exchangeRun_.closedAt = now;
  if (!exchangeRun_.expired) {
    exchangeRun_.took = std::max(now - scatterRun_.closedAt, Duration{1});
  }
}

Counter Op::sumData(TimePoint now,
                    const PacketHeader& header,
                    const std::byte* payload) {
  const int rank = header.source;
  const size_t bytes = layout_.slotSize(ranks_.shard(), header.slot);
  const auto add = [&] {
    return owned_.exchange()->add(
        ranks_.groupOf(rank), header.slot, header.contributors, payload);
  };
  auto outcome = add();
  if (outcome == ExchangeStage::Outcome::kArenaFull &&
      setup_.host->makeRoom(soleAnnouncer(), bytes)) {
    outcome = add();
  }
  switch (outcome) {
    case ExchangeStage::Outcome::kArenaFull:
      exchangeRun_.turnAway(rank, header.slot, owned_.slots());
      return Counter::kArenaFull;
    case ExchangeStage::Outcome::kDuplicate:
      return Counter::kDuplicateData;
    case ExchangeStage::Outcome::kLate:
      if (exchangeRun_.turnAway(rank, header.slot, owned_.slots())) {
        exchangeRun_.countLate(rank, header.slot, bytes);
      }
      return Counter::kLateData;
    case ExchangeStage::Outcome::kAccepted:
      break;
  }
  exchangeRun_.arrived(
      now, rank, {bytes, header.repair, header.lastPercentile});
  restart(&exchangeRun_.repairs, now, rank);
  noteExchange(now);
  noteProgress(now);
  return Counter::kAcceptedData;
}

// Goes on without the missing sums. No-op if there are none.
void Op::expireExchange(TimePoint now) {
  if (owned_.exchanged()) {
    return;
  }
  if (!owned_.sum().closed()) {
    expireScatter(now);
  }
  if (owned_.exchanged()) {  // only the own group's sum was missing
    return;
  }
  exchangeRun_.expired = true;
  owned_.exchange()->closeAll();
  noteExchange(now);
  noteProgress(now);
}

void Op::reportExchange(OpReport* report) const {
  if (owned_.exchange() == nullptr) {
    return;
  }
  report->exchangeExpired = exchangeRun_.expired;
  for (int group = 0; group < ranks_.groups(); group++) {
    report->sums.push_back(owned_.exchange()->received(group));
  }
  for (int shard = 0; shard < ranks_.members(); shard++) {
    report->shardOwners.push_back(ranks_.ownerIn(0, Shard(shard)));
  }
  report->partial = broadcast_.partial(setup_.shape.type);
  const Shard own = ranks_.shard();
  for (uint32_t slot = 0; slot < owned_.exchange()->slots(); slot++) {
    if (owned_.exchange()->partial(slot)) {
      report->partial.push_back(
          {(layout_.shardOffset(own) + layout_.slotOffset(slot)) /
               elementSize(setup_.shape.type),
           layout_.slotElements(own, slot)});
    }
  }
  for (const OpReport::Range& range : report->partial) {
    report->driftElements += range.count;
  }
}

}  // namespace ubt
