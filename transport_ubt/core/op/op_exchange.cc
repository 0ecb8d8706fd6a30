// SPDX-License-Identifier: Apache-2.0
//
// What an op does where ranks form groups, between scatter and broadcast: the
// exchange of groups' sums among the owners of a shard.

#include <algorithm>

#include "transport_ubt/core/op/op.h"

namespace ubt {
namespace {

const BitSet kNothing;
const std::vector<uint32_t> kNoOrder;

}  // namespace

std::unique_ptr<ExchangeStage> Op::makeExchange() {
  if (!ranks_.grouped()) {
    return nullptr;
  }
  ExchangeStage::Setup setup;
  setup.type = setup_.shape.type;
  setup.shard = ranks_.place();
  setup.group = ranks_.group();
  setup.groups = ranks_.groups();
  setup.ranks = setup_.size;
  setup.own = &scatter_;
  setup.reduction = setup_.reduction;
  setup.arena = setup_.arena;
  setup.account = &heldBytes_;
  return std::make_unique<ExchangeStage>(layout_, setup);
}

// Slots of a member's results, or of the sum of a co-owner's group.
const BitSet& Op::received(int rank) const {
  if (ranks_.isMember(rank)) {
    return broadcast_.received(ranks_.placeOf(rank));
  }
  return ranks_.isCoOwner(rank) ? exchange_->received(ranks_.groupOf(rank))
                                : kNothing;
}

bool Op::owesContributions(int rank) const {
  return ranks_.isMember(rank) &&
         !scatter_.contributed(ranks_.placeOf(rank)).all();
}

// The order in which slots of the own shard become ready for a rank.
const std::vector<uint32_t>& Op::orderFor(int rank) const {
  if (!takesSlots(rank)) {
    return kNoOrder;
  }
  return exchange_ != nullptr && ranks_.isMember(rank)
             ? exchange_->closedOrder()
             : scatter_.closedOrder();
}

bool Op::isClosedFor(int rank, uint32_t slot) const {
  return exchange_ != nullptr && ranks_.isMember(rank)
             ? exchange_->isClosed(slot)
             : scatter_.isClosed(slot);
}

uint16_t Op::resultContributors(uint32_t slot) const {
  return exchange_ != nullptr ? exchange_->contributors(slot)
                              : scatter_.contributors(slot);
}

// Ops that need every result wait for all sums. The others give the own group's
// sum its time, however long the group took.
void Op::setExchangeDeadline() {
  if (exchanged() || needsEveryResult() || !clock_.runs()) {
    exchangeDeadline_ = kNever;
    return;
  }
  exchangeDeadline_ = clock_.startedAt() + bounds_.scatter + bounds_.exchange;
  if (scatterDeadline_ != kNever) {
    exchangeDeadline_ =
        std::max(exchangeDeadline_, scatterDeadline_ + bounds_.exchange);
  }
}

// Some slots of the own group's sum may have closed.
void Op::slotsClosed(TimePoint now) {
  if (scatter_.closed()) {
    closeScatter(now);
  } else {
    if (scatterDeadline_ != kNever) {
      setScatterDeadline();
    }
    noteMajority(now);
    noteExchange(now);
  }
}

// From now on sums of other groups are what is waited for.
void Op::awaitSums(TimePoint now) {
  for (int rank = 0; rank < setup_.size; rank++) {
    if (ranks_.isCoOwner(rank) && sumRepairs_.at(rank) == kNever) {
      schedule(&sumRepairs_, now, rank);
    }
  }
}

// Hands on what has closed of the own group's sum, and sees whether that was
// all there was to wait for.
void Op::noteExchange(TimePoint now) {
  if (exchanged()) {
    return;
  }
  const auto& order = scatter_.closedOrder();
  for (; ownSums_ < order.size(); ownSums_++) {
    exchange_->addOwn(order[ownSums_]);
  }
  if (!exchange_->closed()) {
    return;
  }
  exchanged_ = true;
  exchangeDeadline_ = kNever;
  ownClosed_ = now;
  if (!exchangeExpired_) {
    exchangeTook_ = std::max(now - scatterClosed_, Duration{1});
  }
}

Counter Op::sumData(TimePoint now,
                    const PacketHeader& header,
                    const std::byte* payload) {
  const int rank = header.source;
  Peer& peer = peers_[rank];
  const size_t bytes = layout_.slotSize(ranks_.place(), header.slot);
  const auto add = [&] {
    return exchange_->add(
        ranks_.groupOf(rank), header.slot, header.contributors, payload);
  };
  auto outcome = add();
  if (outcome == ExchangeStage::Outcome::kArenaFull &&
      setup_.host->makeRoom(asker(), bytes)) {
    outcome = add();
  }
  switch (outcome) {
    case ExchangeStage::Outcome::kArenaFull:
      mark(&peer.broadcastInVain, exchange_->slots(), header.slot);
      return Counter::kArenaFull;
    case ExchangeStage::Outcome::kDuplicate:
      return Counter::kDuplicateData;
    case ExchangeStage::Outcome::kLate:
      if (mark(&peer.broadcastInVain, exchange_->slots(), header.slot)) {
        exchangeCutShort_ = true;
        if (returned_) {  // it was taken for lost, or absent
          const uint64_t moved = std::min<uint64_t>(bytes, peer.broadcast.lost);
          peer.broadcast.lost -= moved;
          peer.broadcast.late += moved;
        } else {
          peer.broadcast.late += bytes;
        }
      }
      return Counter::kLateData;
    case ExchangeStage::Outcome::kAccepted:
      break;
  }
  peer.broadcast.received += bytes;
  peer.broadcast.repaired += header.repair ? bytes : 0;
  exchangeProgress_.arrived(now, rank, header.lastPercentile);
  restart(&sumRepairs_, now, rank);
  noteExchange(now);
  noteProgress(now);
  return Counter::kAcceptedData;
}

// Where sums are asked for again, their senders' silence is no end. Nor is it
// while a slot holds no majority of all ranks.
TimePoint Op::exchangeEarlyEnd() const {
  return exchanged() || !scatter_.closed() || needsEveryResult() ||
                 !exchange_->holdsMajority()
             ? kNever
             : exchangeProgress_.earlyEnd(exchangeDeadline_,
                                          bounds_.broadcastPatience);
}

// Goes on without the sums that have not come. No-op if all have.
void Op::expireExchange(TimePoint now) {
  if (exchanged()) {
    return;
  }
  if (!scatter_.closed()) {
    expireScatter(now);
  }
  if (exchanged()) {  // the own sum was all that lacked
    return;
  }
  exchangeExpired_ = true;
  exchange_->closeAll();
  noteExchange(now);
  noteProgress(now);
}

void Op::reportExchange(OpReport* report) const {
  if (exchange_ == nullptr) {
    return;
  }
  report->exchangeExpired = exchangeExpired_;
  if (!bounds_.warmup) {
    report->boundExchange = bounds_.exchange;
  }
  for (int group = 0; group < ranks_.groups(); group++) {
    report->sums.push_back(exchange_->received(group));
  }
  for (int shard = 0; shard < ranks_.members(); shard++) {
    report->shardOwners.push_back(setup_.groups->owner(0, shard));
  }
  report->partial = broadcast_.partial(setup_.shape.type);
  const int own = ranks_.place();
  for (uint32_t slot = 0; slot < exchange_->slots(); slot++) {
    if (exchange_->partial(slot)) {
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
