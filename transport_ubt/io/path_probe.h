// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/wire/packet_crypto.h"

namespace ubt {

// A test datagram, as long as one that carries a slot of `slotBytes`. If it
// arrives, slots of that size arrive, too. On the wire, little-endian: a magic
// (u64) that no packet header begins with, epoch (u64), source and destination
// (u32 each), slotBytes (u32), form (u32), a tag (16 bytes), zeros. The tag is
// BLAKE2b, keyed with the key of the direction, of all before it and the
// datagram's length in bytes (u32).
struct PathProbe {
  static constexpr size_t kBytesMin = 8 + 8 + 4 + 4 + 4 + 4 + 16;

  enum class Form : uint32_t {
    kSingle,      // the sender sends no trains of this size on this path
    kSingleToo,   // a single datagram; the sender has sent a train before it
    kTrainBegin,  // the first one of a train
    kTrainEnd,    // the last one of a train
  };

  uint64_t epoch = 0;
  uint32_t source = 0;
  uint32_t destination = 0;
  uint32_t slotBytes = 0;
  Form form = Form::kSingle;

  // A datagram of `bytes` bytes. REQUIRES: bytes >= kBytesMin.
  std::vector<std::byte> encode(const AuthKey& key, size_t bytes) const;

  // False if this is no probe. Does not check the tag.
  static bool decode(const std::byte* datagram, size_t bytes, PathProbe* out);
  // Whether a holder of the key sent this probe with this length. REQUIRES:
  // decode() has accepted the datagram.
  static bool isAuthentic(const AuthKey& key,
                          const std::byte* datagram,
                          size_t bytes);
};

}  // namespace ubt
