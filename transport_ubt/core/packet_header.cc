// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/packet_header.h"

#include "transport_ubt/core/cursor.h"

namespace ubt {
namespace {

// Flag bits.
constexpr uint8_t kFlagBroadcast = 0x01;
constexpr uint8_t kFlagLastPercentile = 0x02;
constexpr uint8_t kFlagTransformed = 0x04;
constexpr uint8_t kFlagHalted = 0x08;
constexpr uint8_t kFlagRepair = 0x10;
constexpr uint8_t kFlagSealed = 0x20;
constexpr uint8_t kFlagClass = 0x40;
constexpr uint8_t kFlagHierarchical = 0x80;  // of data alone

// Beside the contributors of a result.
constexpr uint32_t kPartial = 0x10000;

}  // namespace

void PacketHeader::encode(std::byte* out) const {
  WriteCursor cursor(out, kBytes);
  cursor.put(kVersion);
  cursor.put(static_cast<uint8_t>(type));
  cursor.put(static_cast<uint8_t>(
      (stage == Stage::kBroadcast ? kFlagBroadcast : 0) |
      (lastPercentile ? kFlagLastPercentile : 0) |
      (form == Form::kTransformed ? kFlagTransformed : 0) |
      (halted ? kFlagHalted : 0) | (repair ? kFlagRepair : 0) |
      (sealed ? kFlagSealed : 0) |
      (op.space == TagSpace::kClass ? kFlagClass : 0) |
      (hierarchical ? kFlagHierarchical : 0)));
  cursor.put(static_cast<uint8_t>(elementType));
  cursor.put(op.tag);
  cursor.put(op.count);
  cursor.put(slot);
  cursor.put(source);
  cursor.put(destination);
  cursor.put(stage == Stage::kScatter
                 ? elements
                 : contributors | (partial ? kPartial : 0));
  cursor.put(epoch);
  cursor.put(number);
  cursor.put(tag);
}

bool PacketHeader::decode(const std::byte* data,
                          size_t bytes,
                          PacketHeader* out) {
  ReadCursor cursor(data, bytes);
  const auto version = cursor.get<uint8_t>();
  const auto type = cursor.get<uint8_t>();
  const auto flags = cursor.get<uint8_t>();
  const auto elementType = cursor.get<uint8_t>();
  out->op.tag = cursor.get<uint32_t>();
  out->op.count = cursor.get<uint32_t>();
  out->slot = cursor.get<uint32_t>();
  out->source = cursor.get<uint16_t>();
  out->destination = cursor.get<uint16_t>();
  const auto stageField = cursor.get<uint32_t>();
  out->epoch = cursor.get<uint64_t>();
  out->number = cursor.get<uint64_t>();
  out->tag = cursor.get<uint64_t>();
  if (cursor.failed() || version != kVersion || elementType >= kElementTypes ||
      (type != static_cast<uint8_t>(PacketType::kData) &&
       type != static_cast<uint8_t>(PacketType::kControl))) {
    return false;
  }
  out->type = static_cast<PacketType>(type);
  out->elementType = static_cast<ElementType>(elementType);
  out->stage = (flags & kFlagBroadcast) ? Stage::kBroadcast : Stage::kScatter;
  out->op.space = (flags & kFlagClass) ? TagSpace::kClass : TagSpace::kOptions;
  out->form = (flags & kFlagTransformed) ? Form::kTransformed : Form::kPlain;
  out->lastPercentile = (flags & kFlagLastPercentile) != 0;
  out->halted = (flags & kFlagHalted) != 0;
  out->repair = (flags & kFlagRepair) != 0;
  out->sealed = (flags & kFlagSealed) != 0;
  out->hierarchical = (flags & kFlagHierarchical) != 0;
  const bool scatter = out->stage == Stage::kScatter;
  out->elements = scatter ? stageField : 0;
  out->contributors = scatter ? 0 : static_cast<uint16_t>(stageField);
  out->partial = !scatter && (stageField & kPartial) != 0;
  const bool control = (out->number & kControlNumber) != 0;
  if ((!scatter && stageField > (UINT16_MAX | kPartial)) ||
      (out->partial && !out->hierarchical) || (control && out->hierarchical)) {
    return false;
  }
  return control == (out->type == PacketType::kControl);
}

}  // namespace ubt
