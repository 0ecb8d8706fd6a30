// SPDX-License-Identifier: Apache-2.0
//
// Tags, encryption and keys of datagrams (docs/wire_format.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/wire/packet_number.h"

namespace ubt {

// Which bytes a datagram's tag covers. It always covers all of a control
// datagram.
enum class AuthMode : uint8_t {
  kHeader = 0,  // the header of a data datagram
  kFull = 1,    // every byte
  kAead = 2,    // every byte; everything after the header is encrypted
};

using SealKey = std::array<uint8_t, 32>;
using AuthKey = std::array<uint8_t, 16>;
using PayloadKey = std::array<uint8_t, 32>;
using MulticastMask = std::array<uint8_t, 16>;

// One peer's keys for both directions: for tags, for sealed datagrams, and to
// mask the seed of the sender's multicast keys. Every mode has all of them, so
// that ranks whose modes differ can find that out.
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

// The secret behind one owner's multicast keys (multicastKeys). It is random
// and serves one context. Each peer gets it masked, in an authenticated control
// record.
using MulticastSeed = MulticastMask;

// Masks a seed, or unmasks a masked one. Each direction has its own mask. An
// owner has one seed per context, so a mask always hides the same bytes, and
// reuse of the mask reveals nothing.
MulticastSeed masked(const MulticastSeed& seed, const MulticastMask& mask);

// The keys of an owner's multicast. Send and receive keys are the same, because
// nobody answers by multicast. No key reveals the other or the seed. Pure.
PeerKeys multicastKeys(const MulticastSeed& seed);

}  // namespace ubt
