// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/owned_shard.h"

#include <utility>

#include "transport_ubt/core/base/require.h"

namespace ubt {

OwnedShard::OwnedShard(const ShardLayout& layout,
                       const OpRanks& ranks,
                       const Setup& setup)
    : layout_(layout),
      ranks_(ranks),
      arena_(setup.arena),
      sum_(layout,
           {setup.type,
            ranks.shard(),
            ranks.members(),
            setup.options->order,
            transformSeed(setup.id, ranks.shard()),
            setup.reduction,
            setup.arena,
            setup.account,
            !ranks.grouped()}),
      exchange_(makeExchange(setup)),
      exchanged_(sum_.closed()) {}  // true for an empty shard

std::unique_ptr<ExchangeStage> OwnedShard::makeExchange(
    const Setup& setup) const {
  if (!ranks_.grouped()) {
    return nullptr;
  }
  ExchangeStage::Setup exchange;
  exchange.type = setup.type;
  exchange.shard = ranks_.shard();
  exchange.group = ranks_.group();
  exchange.groups = ranks_.groups();
  exchange.ranks = ranks_.size();
  exchange.own = &sum_;
  exchange.reduction = setup.reduction;
  exchange.arena = setup.arena;
  exchange.account = setup.account;
  return std::make_unique<ExchangeStage>(layout_, exchange);
}

bool OwnedShard::exchangeSums() {
  if (exchanged()) {
    return false;
  }
  const auto& order = sum_.closedOrder();
  for (; sumsExchanged_ < order.size(); sumsExchanged_++) {
    exchange_->addOwn(order[sumsExchanged_]);
  }
  exchanged_ = exchange_->closed();
  return exchanged_;
}

const std::vector<uint32_t>& OwnedShard::orderFor(int rank) const {
  return getsExchanged(rank) ? exchange_->closedOrder() : sum_.closedOrder();
}

bool OwnedShard::isClosedFor(int rank, uint32_t slot) const {
  return getsExchanged(rank) ? exchange_->isClosed(slot) : sum_.isClosed(slot);
}

OwnedShard::Value OwnedShard::valueFor(int rank, uint32_t slot) const {
  Value value;
  if (getsExchanged(rank)) {
    value.contributors = exchange_->contributors(slot);
    value.partial = exchange_->partial(slot);
    value.payload = exchange_->value(slot);
  } else {
    value.contributors = sum_.contributors(slot);
    value.form = sum_.form();
    value.payload = sum_.value(slot);
  }
  value.payloadBytes =
      value.contributors == 0 ? 0 : layout_.slotSize(ranks_.shard(), slot);
  return value;
}

uint16_t OwnedShard::contributors(uint32_t slot) const {
  return exchange_ != nullptr ? exchange_->contributors(slot)
                              : sum_.contributors(slot);
}

void OwnedShard::enter(std::byte* shard, Form form, ArenaBuffer room) {
  room_ = std::move(room);
  sum_.enter(shard, form);
  if (exchange_ != nullptr) {
    exchange_->enter();
  }
}

void OwnedShard::leave(std::byte* shard, const Needed& needed) {
  UBT_REQUIRE(complete());
  if (exchange_ == nullptr) {
    notRetained_ = sum_.leave(needed.result, &room_);
  } else {
    // The sums first: the results overwrite their memory.
    notRetained_ = sum_.leave(needed.sum, &room_);
    notRetained_ += exchange_->leave(shard, needed.result, &room_);
  }
  room_.reset();
}

bool OwnedShard::reserve(const Needed& needed) {
  size_t bytes = 0;
  for (const uint32_t first : {needed.result, needed.sum}) {
    bytes += first == slots() ? 0
                              : layout_.shardSize(ranks_.shard()) -
                                    layout_.slotOffset(first);
  }
  if (bytes > 0) {
    room_ = arena_->reserve(bytes);
  }
  return bytes == 0 || room_;
}

bool OwnedShard::giveRoomBack() {
  const bool any = hasRoom();
  room_.reset();
  return any;
}

}  // namespace ubt
