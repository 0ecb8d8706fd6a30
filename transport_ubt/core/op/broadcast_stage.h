// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "transport_ubt/core/base/arena.h"
#include "transport_ubt/core/base/bit_set.h"
#include "transport_ubt/core/base/reduction.h"
#include "transport_ubt/core/op/op_report.h"
#include "transport_ubt/core/op/shard_layout.h"
#include "transport_ubt/core/wire/options.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// The broadcast stage at a receiver. It takes the reduced slots of all other
// owners' shards: into the caller's bucket or, before the caller has entered,
// into the arena.
class BroadcastStage {
 public:
  enum class Outcome : uint8_t {
    kAccepted,
    kDuplicate,
    kArenaFull,
    kMismatched,  // the owner's other results have another form
  };

  // `size`: the number of owners. `ranks`: the number of contributors to a
  // result, which is larger where the owners are one group of several. `arena`
  // and `account`, the bytes held there, must outlive this.
  BroadcastStage(const ShardLayout& layout,
                 Shard own,
                 int size,
                 int ranks,
                 Arena* arena,
                 size_t* account = nullptr);

  // The most memory of one, without results.
  static size_t bytesFor(const ShardLayout& layout, Shard own, int size);

  // REQUIRES another rank's shard, slot < its slots, payload of exactly the
  // slot's size or, when contributors is 0, empty.
  Outcome add(Shard shard,
              uint32_t slot,
              uint16_t contributors,
              Form form,
              const std::byte* payload);

  // For a result that add() took: results of other groups may differ from it.
  void markPartial(Shard shard, uint32_t slot);
  bool hasPartial() const;
  // The ranges of elements so marked.
  std::vector<OpReport::Range> partial(ElementType type) const;

  // The caller's bucket, which holds its own contribution; used until leave().
  void enter(std::byte* bucket);
  void leave() { bucket_ = nullptr; }

  // Drops an owner's results that lie in the arena, as if they had not arrived,
  // and marks their slots in `marks`.
  struct Dropped {
    uint32_t slots = 0;
    uint64_t bytes = 0;
  };
  Dropped dropEarly(Shard shard, BitSet* marks);

  // The form of an owner's results; nothing: none has arrived.
  std::optional<Form> form(Shard shard) const { return owners_[shard].form; }

  // Puts zeros into the missing slots of the bucket, and returns their ranges
  // of elements. REQUIRES between enter() and leave().
  std::vector<OpReport::Range> zeroMissing(ElementType type);

  const BitSet& received(Shard shard) const { return owners_[shard].received; }
  bool complete() const { return slotsMissing_ == 0; }
  // The sum of the hashes of received slots (ReplicaProof).
  uint64_t hash() const { return hash_; }
  // The (contributor, element) pairs that received slots lack.
  uint64_t pairsMissing() const { return pairsMissing_; }

 private:
  struct Owner {
    BitSet received;
    std::vector<uint16_t> contributors;
    std::vector<ArenaBuffer> early;  // sized on first use
    std::optional<Form> form;
    BitSet partial;  // sized on first use
  };

  void place(Shard shard, uint32_t slot, const std::byte* payload);
  uint64_t pairsLacking(Shard shard, uint32_t slot) const;
  uint64_t hashOf(Shard shard, uint32_t slot, const std::byte* payload) const;

  const ShardLayout layout_;
  const int size_;
  const int ranks_;
  Arena* const arena_;
  size_t* const account_;
  std::byte* bucket_ = nullptr;
  std::vector<Owner> owners_;
  size_t slotsMissing_ = 0;
  uint64_t pairsMissing_ = 0;
  uint64_t hash_ = 0;
};

}  // namespace ubt
