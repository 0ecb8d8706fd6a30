// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/packet_auth.h"

#include <sodium.h>

#include <cstring>

#include "transport_ubt/core/cursor.h"
#include "transport_ubt/core/packet_header.h"

namespace ubt {
namespace {

uint64_t sipHash(const AuthKey& key, const std::byte* data, size_t bytes) {
  static_assert(crypto_shorthash_KEYBYTES == sizeof(AuthKey), "key size");
  std::byte hash[crypto_shorthash_BYTES];
  crypto_shorthash(reinterpret_cast<unsigned char*>(hash),
                   reinterpret_cast<const unsigned char*>(data),
                   bytes,
                   key.data());
  return ReadCursor(hash, sizeof(hash)).get<uint64_t>();
}

}  // namespace

uint64_t packetTag(const AuthKey& key,
                   const std::byte* header,
                   const std::byte* payload,
                   size_t payloadBytes) {
  // The payload's hash takes the tag's place behind the header, so that the
  // two need not lie side by side in memory.
  std::byte covered[PacketHeader::kBytes];
  std::memcpy(covered, header, PacketHeader::kTagOffset);
  if (payloadBytes == 0) {
    return sipHash(key, covered, PacketHeader::kTagOffset);
  }
  WriteCursor(covered + PacketHeader::kTagOffset,
              PacketHeader::kBytes - PacketHeader::kTagOffset)
      .put(sipHash(key, payload, payloadBytes));
  return sipHash(key, covered, PacketHeader::kBytes);
}

}  // namespace ubt
