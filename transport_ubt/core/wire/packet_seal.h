// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/wire/packet_number.h"

namespace ubt {

using SealKey = std::array<uint8_t, 32>;

// Bytes after the payload of a sealed datagram. They are the second half of the
// tag; the header holds the first half.
constexpr size_t kSealBytes = 8;

// Encrypts one datagram with ChaCha20-Poly1305 (RFC 8439). The associated data
// is the header, the nonce is the 64-bit packet number. Pure; callable from any
// thread. REQUIRES that no number is sealed twice with one key: an attacker
// with two such datagrams could read both and forge more.

// Encrypts `bytes` bytes of payload to `out`, and writes the tag to the encoded
// `header` and behind the ciphertext. `out` has room for kSealBytes more and
// may be `payload` itself.
void sealPacket(const SealKey& key,
                std::byte* header,
                PacketNumber number,
                const std::byte* payload,
                size_t bytes,
                std::byte* out);

// Decrypts the payload to `out`, which has room for it and is not part of the
// datagram. Returns false if the datagram is too short or was not sealed with
// this key and number. The contents of `out` are undefined then.
bool openPacket(const SealKey& key,
                const std::byte* datagram,
                size_t bytes,
                PacketNumber number,
                std::byte* out);

}  // namespace ubt
