// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/wire/packet_number.h"
#include "transport_ubt/core/wire/packet_seal.h"

namespace ubt {

// Which bytes a datagram's tag covers. It always covers all of a control
// datagram.
enum class AuthMode : uint8_t {
  kHeader = 0,  // the header of a data datagram
  kFull = 1,    // every byte
  kAead = 2,    // every byte; everything after the header is encrypted
};

using AuthKey = std::array<uint8_t, 16>;
using PayloadKey = std::array<uint8_t, 32>;
using MulticastMask = std::array<uint8_t, 16>;

// One peer's keys for both directions: for tags, for sealed datagrams, and to
// mask the seed of the sender's multicast keys (multicast_key.h). Every mode
// has all of them, so that ranks whose modes differ can find that out.
struct PeerKeys {
  AuthKey send{};
  AuthKey receive{};
  SealKey sendSeal{};
  SealKey receiveSeal{};
  MulticastMask sendMask{};
  MulticastMask receiveMask{};
};

// The key for the hash of payloads: BLAKE2b of "payload", keyed with the seal
// key of the same direction. Pure.
PayloadKey payloadKeyOf(const SealKey& key);

// The tag of a datagram: SipHash-2-4 over the encoded header without its tag,
// the 64-bit packet number, and the Poly1305 of the payload unless that is
// empty. The Poly1305 is never sent, so its key may serve several payloads.
// Pure; callable from any thread.
uint64_t packetTag(const AuthKey& key,
                   const PayloadKey& payloadKey,
                   const std::byte* header,
                   PacketNumber number,
                   const std::byte* payload,
                   size_t payloadBytes);

}  // namespace ubt
