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
// What a slot's bytes mean: elements, or coefficients (Reduction::transform).
enum class Form : uint8_t { kPlain = 0, kTransformed = 1 };

// The header of every datagram; its layout is docs/wire_format.md.
struct PacketHeader {
  static constexpr size_t kBytes = 32;
  static constexpr size_t kTagOffset = 24;
  static constexpr uint8_t kVersion = 2;
  // A slot's index is less.
  static constexpr uint32_t kSlotsMax = 1 << 24;

  PacketType type = PacketType::kControl;
  Stage stage = Stage::kScatter;
  // Data: that of the slot. Control: the one its sender would rather get, for
  // what it loses; it takes both.
  Form form = Form::kPlain;
  bool lastPercentile = false;  // of the last of its sender's slots
  bool repair = false;          // sent again on request
  bool halted = false;          // its sender begins no op any more (Halt)
  bool sealed = false;          // encrypted (packet_seal.h)
  bool group = false;           // for all ranks at once, by multicast
  bool hierarchical = false;    // data, of an op of that shape
  // Of a result of such an op: some group's sum is not in it, but may be in
  // what other groups got.
  bool partial = false;
  ElementType elementType = ElementType::kFloat32;
  OpId op;
  uint32_t slot = 0;
  uint16_t source = 0;
  // Scatter stage: the op's element count, so that any contribution tells the
  // owner the op's shape. Broadcast stage: how many ranks the slot sums.
  uint32_t elements = 0;
  uint16_t contributors = 0;
  // The context's, of whose epoch it is a part: others may have the same.
  uint16_t context = 0;
  PacketNumber number = 0;
  uint64_t tag = 0;

  static constexpr uint16_t contextOf(uint64_t epoch) {
    return static_cast<uint16_t>(epoch);
  }

  // Writes kBytes bytes, the tag included.
  void encode(std::byte* out) const;

  // False if the bytes are no header of this version. Checks form only. Of the
  // number it knows what nearestNumber() needs.
  static bool decode(const std::byte* data, size_t bytes, PacketHeader* out);
};

}  // namespace ubt
