// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport_ubt/core/base/arena.h"
#include "transport_ubt/core/op/exchange_stage.h"
#include "transport_ubt/core/op/op_parts.h"
#include "transport_ubt/core/op/scatter_stage.h"
#include "transport_ubt/core/op/shard_layout.h"
#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/core/wire/options.h"

namespace ubt {

// The shard that this rank owns in an op. Adds up the contributions to it and,
// where ranks form groups, exchanges the sum with the shard's other owners.
// After the caller has left, it keeps the shard for ranks that still lack it.
class OwnedShard {
 public:
  struct Setup {
    OpId id;
    ElementType type = ElementType::kFloat32;
    const Options* options = nullptr;  // outlives this, as do the rest
    const Reduction* reduction = nullptr;
    Arena* arena = nullptr;
    size_t* account =
        nullptr;  // bytes that it holds of the arena, without room
  };
  // The content of a closed slot for a rank.
  struct Value {
    uint16_t contributors = 0;
    Form form = Form::kPlain;
    bool partial = false;
    const std::byte* payload = nullptr;  // null: not kept, or no contributors
    size_t payloadBytes = 0;

    bool isKept() const { return payload != nullptr || contributors == 0; }
  };
  // The first slot whose result some member lacks, and the first whose group's
  // sum some co-owner lacks; slots(): none.
  struct Needed {
    uint32_t result = 0;
    uint32_t sum = 0;
  };

  // `ranks` must outlive this.
  OwnedShard(const ShardLayout& layout,
             const OpRanks& ranks,
             const Setup& setup);

  uint32_t slots() const { return sum_.slots(); }
  // The sum of the own group's contributions. Without groups: of all ranks.
  ScatterStage& sum() { return sum_; }
  const ScatterStage& sum() const { return sum_; }
  // Null: ranks form no groups.
  ExchangeStage* exchange() { return exchange_.get(); }
  const ExchangeStage* exchange() const { return exchange_.get(); }

  // Whether the exchange is over, or there is none.
  bool exchanged() const { return exchange_ == nullptr || exchanged_; }
  // Whether every slot has its final value.
  bool complete() const { return sum_.closed() && exchanged(); }
  // Gives closed slots of the sum to the exchange. True: this ended it.
  bool exchangeSums();

  // The slots that are ready for a rank, in the order of closing. REQUIRES a
  // member or a co-owner. The next two require the same.
  const std::vector<uint32_t>& orderFor(int rank) const;
  bool isClosedFor(int rank, uint32_t slot) const;
  // REQUIRES isClosedFor(rank, slot).
  Value valueFor(int rank, uint32_t slot) const;
  // The number of ranks in a slot's result.
  uint16_t contributors(uint32_t slot) const;

  // The caller lends the shard of its bucket until leave(). The shard holds the
  // caller's contribution in `form`. `room`: keptBytes() of the arena; empty:
  // it had none.
  void enter(std::byte* shard, Form form, ArenaBuffer room);
  // The caller takes its memory back. Needed slots are copied to the room, or
  // elsewhere in the arena. REQUIRES complete().
  void leave(std::byte* shard, const Needed& needed);
  // Needed slots that found no room in the arena when the caller left.
  uint32_t notRetained() const { return notRetained_; }

  // Bytes of the arena that keep the shard after leave().
  static size_t keptBytes(const OpParts& parts) {
    // Where ranks form groups: the group's sum for co-owners, and the result.
    return parts.layout.shardSize(parts.own()) *
           (parts.ranks.grouped() ? 2 : 1);
  }
  bool hasRoom() const { return static_cast<bool>(room_); }
  // Reserves room for an op that began without. False: the arena has none.
  bool reserve(const Needed& needed);
  // Gives the room back. False: there was none.
  bool giveRoomBack();

 private:
  std::unique_ptr<ExchangeStage> makeExchange(const Setup& setup) const;
  // Whether a rank gets the sum of all groups rather than the own group's.
  bool getsExchanged(int rank) const {
    return exchange_ != nullptr && ranks_.isMember(rank);
  }

  const ShardLayout layout_;
  const OpRanks& ranks_;
  Arena* const arena_;
  ScatterStage sum_;
  const std::unique_ptr<ExchangeStage> exchange_;
  bool exchanged_ = false;
  size_t sumsExchanged_ = 0;  // of the sum's order of closing
  ArenaBuffer room_;          // to keep the shard after leave()
  uint32_t notRetained_ = 0;
};

}  // namespace ubt
