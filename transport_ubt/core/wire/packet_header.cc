// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/wire/packet_header.h"

#include "transport_ubt/core/wire/cursor.h"

namespace ubt {
namespace {

// Bits of the first byte, which also holds the version and the element type.
constexpr int kVersionShift = 5;
constexpr uint8_t kControl = 0x10;
constexpr uint8_t kMulticast = 0x08;
constexpr uint8_t kSealed = 0x04;
constexpr uint8_t kElementTypeMask = 0x03;

// Flag bits.
constexpr uint8_t kFlagBroadcast = 0x01;
constexpr uint8_t kFlagLastPercentile = 0x02;
constexpr uint8_t kFlagTransformed = 0x04;
constexpr uint8_t kFlagHalted = 0x08;
constexpr uint8_t kFlagRepair = 0x10;
constexpr uint8_t kFlagPartial = 0x20;  // only for results
constexpr uint8_t kFlagClass = 0x40;
constexpr uint8_t kFlagHierarchical = 0x80;  // only for data

static_assert(kElementTypes == kElementTypeMask + 1, "two bits tell them");

}  // namespace

void PacketHeader::encode(std::byte* out) const {
  const bool control = type == PacketType::kControl;
  const bool scatter = stage == Stage::kScatter;
  WriteCursor cursor(out, kBytes);
  cursor.put(static_cast<uint8_t>(
      kVersion << kVersionShift | (control ? kControl : 0) |
      (multicast ? kMulticast : 0) | (sealed ? kSealed : 0) |
      static_cast<uint8_t>(elementType)));
  cursor.put(static_cast<uint8_t>(
      (scatter ? 0 : kFlagBroadcast) |
      (lastPercentile ? kFlagLastPercentile : 0) |
      (form == Form::kTransformed ? kFlagTransformed : 0) |
      (halted ? kFlagHalted : 0) | (repair ? kFlagRepair : 0) |
      (partial && !scatter ? kFlagPartial : 0) |
      (op.space == TagSpace::kClass ? kFlagClass : 0) |
      (hierarchical ? kFlagHierarchical : 0)));
  cursor.put(source);
  cursor.put(op.tag);
  cursor.put(op.count);
  cursor.put(scatter ? elements : uint32_t{contributors});
  cursor.put24(slot);
  cursor.put24(static_cast<uint32_t>(number));
  cursor.put(context);
  cursor.put(tag);
}

bool PacketHeader::decode(const std::byte* data,
                          size_t bytes,
                          PacketHeader* out) {
  ReadCursor cursor(data, bytes);
  const auto kind = cursor.get<uint8_t>();
  const auto flags = cursor.get<uint8_t>();
  out->source = cursor.get<uint16_t>();
  out->op.tag = cursor.get<uint32_t>();
  out->op.count = cursor.get<uint32_t>();
  const auto stageField = cursor.get<uint32_t>();
  out->slot = cursor.get24();
  const PacketNumber number = cursor.get24();
  out->context = cursor.get<uint16_t>();
  out->tag = cursor.get<uint64_t>();
  if (cursor.failed() || kind >> kVersionShift != kVersion) {
    return false;
  }
  const bool control = (kind & kControl) != 0;
  const bool scatter = (flags & kFlagBroadcast) == 0;
  out->type = control ? PacketType::kControl : PacketType::kData;
  out->number = number | (control ? kControlNumber : 0);
  out->multicast = (kind & kMulticast) != 0;
  out->sealed = (kind & kSealed) != 0;
  out->elementType = static_cast<ElementType>(kind & kElementTypeMask);
  out->stage = scatter ? Stage::kScatter : Stage::kBroadcast;
  out->op.space = (flags & kFlagClass) ? TagSpace::kClass : TagSpace::kOptions;
  out->form = (flags & kFlagTransformed) ? Form::kTransformed : Form::kPlain;
  out->lastPercentile = (flags & kFlagLastPercentile) != 0;
  out->halted = (flags & kFlagHalted) != 0;
  out->repair = (flags & kFlagRepair) != 0;
  out->partial = (flags & kFlagPartial) != 0;
  out->hierarchical = (flags & kFlagHierarchical) != 0;
  out->elements = scatter ? stageField : 0;
  out->contributors = scatter ? 0 : static_cast<uint16_t>(stageField);
  return (scatter || stageField <= UINT16_MAX) &&
         !(control && out->hierarchical) &&
         !(out->partial && (scatter || !out->hierarchical));
}

}  // namespace ubt
