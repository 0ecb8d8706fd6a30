// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/wire/packet_seal.h"

#include <sodium.h>

#include <cstring>

#include "transport_ubt/core/wire/cursor.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {
namespace {

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

}  // namespace

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

}  // namespace ubt
