// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/element_type.h"
#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/core/wire/packet_number.h"

namespace ubt {

enum class PacketType : uint8_t { kData = 1, kControl = 2 };
enum class Stage : uint8_t { kScatter = 0, kBroadcast = 1 };
// What a slot holds: elements, or coefficients (Reduction::transform).
enum class Form : uint8_t { kPlain = 0, kTransformed = 1 };

// The header of every datagram. docs/wire_format.md has its layout.
struct PacketHeader {
  static constexpr size_t kBytes = 32;
  static constexpr size_t kTagOffset = 24;
  static constexpr uint8_t kVersion = 5;
  // Every slot index is below this.
  static constexpr uint32_t kSlotsMax = 1 << 24;

  PacketType type = PacketType::kControl;
  Stage stage = Stage::kScatter;
  // Data: the form of the slot. Control: the form that its sender prefers to
  // receive, because of its losses; it accepts both.
  Form form = Form::kPlain;
  bool lastPercentile = false;  // one of its sender's last slots
  bool repair = false;          // sent again on request
  bool halted = false;          // its sender begins no further op (Halt)
  bool sealed = false;          // encrypted (packet_crypto.h)
  bool multicast = false;       // multicast to all ranks
  bool hierarchical = false;    // data of a hierarchical op
  // Only for results of such an op: the sum of some group is missing, but the
  // results of other groups may have it.
  bool partial = false;
  ElementType elementType = ElementType::kFloat32;
  OpId op;
  uint32_t slot = 0;
  uint16_t source = 0;
  // Scatter stage: the op's element count, so that any contribution tells the
  // owner the op's shape. Broadcast stage: how many ranks are in the slot's
  // sum.
  uint32_t elements = 0;
  uint16_t contributors = 0;
  // The lowest 16 bits of the context's epoch. Several contexts may share them.
  uint16_t context = 0;
  PacketNumber number = 0;
  uint64_t tag = 0;

  static constexpr uint16_t contextOf(uint64_t epoch) {
    return static_cast<uint16_t>(epoch);
  }

  // Writes kBytes bytes, including the tag.
  void encode(std::byte* out) const;

  // Returns false if the bytes are not a header of this version. Checks only
  // the form. Sets only those bits of `number` that nearestNumber() needs.
  static bool decode(const std::byte* data, size_t bytes, PacketHeader* out);
};

}  // namespace ubt
