// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/wire/packet_crypto.h"

#include <sodium.h>

#include <cstring>
#include <string>

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

constexpr size_t kTagBytes = crypto_aead_chacha20poly1305_ietf_ABYTES;
constexpr size_t kNonceBytes = crypto_aead_chacha20poly1305_ietf_NPUBBYTES;
constexpr size_t kTagInHeader = PacketHeader::kBytes - PacketHeader::kTagOffset;

static_assert(crypto_aead_chacha20poly1305_ietf_KEYBYTES == sizeof(SealKey),
              "key size");
static_assert(kTagBytes == kTagInHeader + kSealBytes, "the tag has two halves");

using Bytes = unsigned char;

const Bytes* chars(const std::byte* bytes) {
  return reinterpret_cast<const Bytes*>(bytes);
}

Bytes* chars(std::byte* bytes) {
  return reinterpret_cast<Bytes*>(bytes);
}

// Four zero bytes and the packet number, which is unique in its direction.
struct Nonce {
  explicit Nonce(PacketNumber number) {
    constexpr size_t kZeros = kNonceBytes - sizeof(number);
    WriteCursor(bytes + kZeros, sizeof(number)).put(number);
  }
  std::byte bytes[kNonceBytes] = {};
};

// Derives the key for one use. The key size is an input of the hash.
template <typename Key>
Key derive(const MulticastSeed& seed, const std::string& use) {
  static_assert(sizeof(MulticastSeed) >= crypto_generichash_KEYBYTES_MIN,
                "a seed keys the hash");
  Key key;
  crypto_generichash(key.data(),
                     key.size(),
                     reinterpret_cast<const uint8_t*>(use.data()),
                     use.size(),
                     seed.data(),
                     seed.size());
  return key;
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

void sealPacket(const SealKey& key,
                std::byte* header,
                PacketNumber number,
                const std::byte* payload,
                size_t bytes,
                std::byte* out) {
  Bytes tag[kTagBytes];
  crypto_aead_chacha20poly1305_ietf_encrypt_detached(chars(out),
                                                     tag,
                                                     nullptr,
                                                     chars(payload),
                                                     bytes,
                                                     chars(header),
                                                     PacketHeader::kTagOffset,
                                                     nullptr,
                                                     chars(Nonce(number).bytes),
                                                     key.data());
  std::memcpy(header + PacketHeader::kTagOffset, tag, kTagInHeader);
  std::memcpy(out + bytes, tag + kTagInHeader, kSealBytes);
}

bool openPacket(const SealKey& key,
                const std::byte* datagram,
                size_t bytes,
                PacketNumber number,
                std::byte* out) {
  if (bytes < PacketHeader::kBytes + kSealBytes) {
    return false;
  }
  Bytes tag[kTagBytes];
  std::memcpy(tag, datagram + PacketHeader::kTagOffset, kTagInHeader);
  std::memcpy(tag + kTagInHeader, datagram + bytes - kSealBytes, kSealBytes);
  return crypto_aead_chacha20poly1305_ietf_decrypt_detached(
             chars(out),
             nullptr,
             chars(datagram + PacketHeader::kBytes),
             bytes - PacketHeader::kBytes - kSealBytes,
             tag,
             chars(datagram),
             PacketHeader::kTagOffset,
             chars(Nonce(number).bytes),
             key.data()) == 0;
}

MulticastSeed masked(const MulticastSeed& seed, const MulticastMask& mask) {
  MulticastSeed out{};
  for (size_t i = 0; i < out.size(); i++) {
    out[i] = seed[i] ^ mask[i];
  }
  return out;
}

PeerKeys multicastKeys(const MulticastSeed& seed) {
  PeerKeys keys;
  keys.send = keys.receive = derive<AuthKey>(seed, "tag");
  keys.sendSeal = keys.receiveSeal = derive<SealKey>(seed, "seal");
  return keys;
}

}  // namespace ubt
