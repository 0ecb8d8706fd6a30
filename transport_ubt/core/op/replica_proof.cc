// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/replica_proof.h"

#include "transport_ubt/kernels/hash64.h"

namespace ubt {

uint64_t ReplicaProof::ofSlot(Shard shard,
                              uint32_t slot,
                              Form form,
                              const std::byte* payload,
                              size_t bytes) {
  static_assert(PacketHeader::kSlotsMax <= uint64_t{1} << 24);
  const uint64_t seed = static_cast<uint64_t>(shard) << 32 |
                        static_cast<uint64_t>(form) << 24 | slot;
  return hash64(payload, bytes, seed);
}

}  // namespace ubt
