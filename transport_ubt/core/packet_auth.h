// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ubt {

// What a datagram's tag covers. Control datagrams are always covered whole.
enum class AuthMode : uint8_t {
  kHeader = 0,  // a data datagram's header
  kFull = 1,    // every byte
};

using AuthKey = std::array<uint8_t, 16>;

// One peer's two keys, one per direction.
struct PeerKeys {
  AuthKey send{};
  AuthKey receive{};
};

// SipHash-2-4 over a header without its tag, then a payload (which may be
// empty). Pure; callable from any thread.
uint64_t packetTag(const AuthKey& key,
                   const std::byte* header,
                   const std::byte* payload,
                   size_t payloadBytes);

}  // namespace ubt
