// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "transport_ubt/bounded/group_wish.h"
#include "transport_ubt/core/wire/cursor.h"
#include "transport_ubt/io/socket_address.h"

namespace ubt {

// A rank's message to every other about its UDP side. Made fresh for each
// context: the public key is also the nonce that distinguishes runs.
struct Hello {
  // Bounds of the fields. Slots are multiples of ShardLayout::kSlotStep. Below
  // kSlotBytesMin they have no room for control records.
  static constexpr uint32_t kSlotBytesMin = 256;
  static constexpr uint32_t kSlotBytesMost = 65472;
  static constexpr uint32_t kWindowBytesMin = 1024;
  static constexpr uint32_t kWindowBytesMost = 1 << 30;

  uint16_t port = 0;
  uint32_t slotBytesMax = 0;
  uint32_t windowBytes = 0;
  uint64_t minBytes = 0;  // the same on all ranks; under 2^41
  // The grouping is the same on all ranks if any op is hierarchical. Its count
  // is under 2^21. The host has 32 bits, because Gloo has no room for more.
  GroupWish groups;
  std::array<uint8_t, 32> publicKey{};

  // Sets minBytes and groups, limited to those ranges.
  void want(uint64_t bytesMin, const GroupWish& wish);

  // The bytes on the wire, which include the protocol's version.
  static constexpr size_t kBytes = 4 + 2 + 2 + 4 + 8 + 4 + 32;
  void encode(WriteCursor* out) const;
  // False if this is no Hello of this version. Does not check bounds.
  static bool decode(ReadCursor* in, Hello* out);

  // Which field is out of bounds, with its value and the bounds; empty if none.
  std::string outOfBounds() const;
};

// Why no rank can be reached at this IP address, in the form of
// Hello::outOfBounds().
std::string outOfBounds(const SocketAddress& address);

}  // namespace ubt
