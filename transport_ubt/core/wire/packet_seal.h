// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/wire/packet_number.h"

namespace ubt {

using SealKey = std::array<uint8_t, 32>;

// What a sealed datagram has behind its payload: the second half of a tag
// whose first half is in the header.
constexpr size_t kSealBytes = 8;

// Encryption of one datagram: ChaCha20-Poly1305 (RFC 8439) with the header as
// associated data and its whole number as nonce. Pure; callable from any
// thread. No number may ever be sealed twice with one key: whoever has two such
// datagrams can read both and forge more.

// Encrypts `bytes` of payload to `out`, which takes kSealBytes more and may be
// the payload's own place, and writes the tag into the encoded `header`.
void sealPacket(const SealKey& key,
                std::byte* header,
                PacketNumber number,
                const std::byte* payload,
                size_t bytes,
                std::byte* out);

// Decrypts the payload to `out`, which has room for it and is no part of the
// datagram. False, and nothing of use in `out`, if the datagram was not sealed
// just so with this key, or is too short.
bool openPacket(const SealKey& key,
                const std::byte* datagram,
                size_t bytes,
                PacketNumber number,
                std::byte* out);

}  // namespace ubt
