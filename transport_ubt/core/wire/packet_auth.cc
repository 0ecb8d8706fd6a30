// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/wire/packet_auth.h"

#include <sodium.h>

#include <cstring>

#include "transport_ubt/core/wire/cursor.h"
#include "transport_ubt/core/wire/packet_header.h"

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

PayloadKey payloadKeyOf(const SealKey& key) {
  constexpr char kUse[] = "payload";
  PayloadKey out{};
  crypto_generichash(out.data(),
                     out.size(),
                     reinterpret_cast<const unsigned char*>(kUse),
                     sizeof(kUse) - 1,
                     key.data(),
                     key.size());
  return out;
}

uint64_t packetTag(const AuthKey& key,
                   const PayloadKey& payloadKey,
                   const std::byte* header,
                   PacketNumber number,
                   const std::byte* payload,
                   size_t payloadBytes) {
  // The hash stands for the payload, so that header and payload need not be
  // contiguous in memory.
  static_assert(crypto_onetimeauth_KEYBYTES == sizeof(PayloadKey), "key size");
  constexpr size_t kHeadBytes = PacketHeader::kTagOffset + sizeof(number);
  std::byte covered[kHeadBytes + crypto_onetimeauth_BYTES];
  std::memcpy(covered, header, PacketHeader::kTagOffset);
  WriteCursor(covered + PacketHeader::kTagOffset, sizeof(number)).put(number);
  if (payloadBytes == 0) {
    return sipHash(key, covered, kHeadBytes);
  }
  crypto_onetimeauth(reinterpret_cast<unsigned char*>(covered + kHeadBytes),
                     reinterpret_cast<const unsigned char*>(payload),
                     payloadBytes,
                     payloadKey.data());
  return sipHash(key, covered, sizeof(covered));
}

}  // namespace ubt
