// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/op/shard_layout.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// Proves that all ranks of an op return the same bits. Each rank tells the
// others a hash of all its results, and compares. Results are hashed as they
// travel, before any inverse transform. Not thread-safe.
class ReplicaProof {
 public:
  // The hash of a slot's result. `bytes` is 0 if the slot is an agreed zero.
  // The hash of an op is the sum over all slots of all shards, in any order.
  static uint64_t ofSlot(Shard shard,
                         uint32_t slot,
                         Form form,
                         const std::byte* payload,
                         size_t bytes);

  // A rank, this one or another, tells the hash of its results; 0: it tells
  // none, because it may lack some.
  void tell(int rank, uint64_t hash) {
    if (hash == 0) {
      return;
    }
    if (first_ < 0) {
      first_ = rank;
      hash_ = hash;
    } else if (hash != hash_ && other_ < 0) {
      other_ = rank;
    }
  }

  bool differs() const { return other_ >= 0; }
  // The first rank that told a hash, and the first whose hash differs from it.
  // REQUIRES differs(). Either may be wrong.
  int first() const { return first_; }
  int other() const { return other_; }

 private:
  uint64_t hash_ = 0;
  int first_ = -1;
  int other_ = -1;
};

}  // namespace ubt
