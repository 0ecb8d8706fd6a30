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
                   PacketNumber number,
                   const std::byte* payload,
                   size_t payloadBytes) {
  // The payload's hash stands for it, so that header and payload need not lie
  // side by side in memory.
  std::byte covered[PacketHeader::kTagOffset + 2 * sizeof(uint64_t)];
  std::memcpy(covered, header, PacketHeader::kTagOffset);
  WriteCursor cursor(covered + PacketHeader::kTagOffset, 2 * sizeof(uint64_t));
  cursor.put(number);
  if (payloadBytes > 0) {
    cursor.put(sipHash(key, payload, payloadBytes));
  }
  return sipHash(key, covered, PacketHeader::kTagOffset + cursor.used());
}

}  // namespace ubt
