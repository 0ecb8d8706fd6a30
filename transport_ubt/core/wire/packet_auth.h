// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/wire/packet_number.h"
#include "transport_ubt/core/wire/packet_seal.h"

namespace ubt {

// What a datagram's tag covers. Control datagrams are always covered whole.
enum class AuthMode : uint8_t {
  kHeader = 0,  // a data datagram's header
  kFull = 1,    // every byte
  kAead = 2,    // every byte; and all but the header is encrypted
};

using AuthKey = std::array<uint8_t, 16>;
using PayloadKey = std::array<uint8_t, 32>;
using GroupMask = std::array<uint8_t, 16>;

// One peer's keys, per direction: for tags, for sealed datagrams, and to hide
// the seed of the sender's group keys (group_key.h). All are there in every
// mode, so that ranks which differ in it can learn of that.
struct PeerKeys {
  AuthKey send{};
  AuthKey receive{};
  SealKey sendSeal{};
  SealKey receiveSeal{};
  GroupMask sendMask{};
  GroupMask receiveMask{};
};

// The key of payloads that tags cover, from that of sealed datagrams of the
// same direction: BLAKE2b of "payload", keyed with it. Pure.
PayloadKey payloadKeyOf(const SealKey& key);

// SipHash-2-4 over an encoded header without its tag, its whole number, then
// the Poly1305 of the payload, unless that is empty. Nobody sees that Poly1305,
// so its key may serve more than one payload. Pure; callable from any thread.
uint64_t packetTag(const AuthKey& key,
                   const PayloadKey& payloadKey,
                   const std::byte* header,
                   PacketNumber number,
                   const std::byte* payload,
                   size_t payloadBytes);

}  // namespace ubt
