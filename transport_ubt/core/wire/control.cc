// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/wire/control.h"

namespace ubt {
namespace {

// Set in the type byte if the record's op has a tag of TagSpace::kClass.
constexpr uint8_t kClassBit = 0x80;

bool hasOp(ControlType type) {
  return type != ControlType::kCredit && type != ControlType::kBlocked &&
         (type < ControlType::kLeave || type == ControlType::kNoMore ||
          type == ControlType::kHalf || type == ControlType::kOver ||
          type == ControlType::kLostSlots);
}

}  // namespace

void ControlRecord::encode(WriteCursor* out) const {
  const bool ofClass = hasOp(type) && op.space == TagSpace::kClass;
  out->put(static_cast<uint8_t>(static_cast<uint8_t>(type) |
                                (ofClass ? kClassBit : 0)));
  if (hasOp(type)) {
    out->put(op.tag);
    out->put(op.count);
  }
  switch (type) {
    case ControlType::kAnnounce:
      out->put(shape.elements);
      out->put(static_cast<uint8_t>(shape.type));
      out->put(shape.fingerprint);
      break;
    case ControlType::kCredit:
    case ControlType::kBlocked:
    case ControlType::kHears:
      out->put(number);
      break;
    case ControlType::kLost:
      out->put(number);
      out->put(slots);
      break;
    case ControlType::kRepair:
    case ControlType::kLostSlots:
      out->put(static_cast<uint8_t>(stage));
      out->put(slot);
      out->put(slots);
      break;
    case ControlType::kProgress:
    case ControlType::kLeave:
      out->put(slot);
      break;
    case ControlType::kClosed:
      out->put(slots);
      break;
    case ControlType::kDone:
    case ControlType::kDoneQuery:
      out->put(slots);
      out->put(number);
      break;
    case ControlType::kNoMore:
    case ControlType::kHalf:
      out->put(static_cast<uint8_t>(stage));
      break;
    case ControlType::kMulticastKey:
      for (const uint8_t byte : multicastKey) {
        out->put(byte);
      }
      break;
    case ControlType::kAnnounceSeen:
    case ControlType::kOver:
      break;
  }
}

bool ControlRecord::decode(ReadCursor* in, ControlRecord* out) {
  const auto first = in->get<uint8_t>();
  const auto type = static_cast<uint8_t>(first & ~kClassBit);
  if (type < static_cast<uint8_t>(ControlType::kAnnounce) ||
      type > static_cast<uint8_t>(ControlType::kLostSlots)) {
    return false;
  }
  out->type = static_cast<ControlType>(type);
  const bool ofClass = first != type;
  if (ofClass && !hasOp(out->type)) {
    return false;
  }
  if (hasOp(out->type)) {
    out->op.space = ofClass ? TagSpace::kClass : TagSpace::kOptions;
    out->op.tag = in->get<uint32_t>();
    out->op.count = in->get<uint32_t>();
  }
  switch (out->type) {
    case ControlType::kAnnounce: {
      out->shape.space = out->op.space;
      out->shape.elements = in->get<uint64_t>();
      const auto elementType = in->get<uint8_t>();
      if (elementType >= kElementTypes) {
        return false;
      }
      out->shape.type = static_cast<ElementType>(elementType);
      out->shape.fingerprint = in->get<uint32_t>();
      break;
    }
    case ControlType::kCredit:
    case ControlType::kBlocked:
    case ControlType::kHears:
      out->number = in->get<uint64_t>();
      break;
    case ControlType::kLost:
      out->number = in->get<uint64_t>();
      out->slots = in->get<uint32_t>();
      break;
    case ControlType::kRepair:
    case ControlType::kLostSlots: {
      const auto stage = in->get<uint8_t>();
      if (stage > static_cast<uint8_t>(Stage::kBroadcast)) {
        return false;
      }
      out->stage = static_cast<Stage>(stage);
      out->slot = in->get<uint32_t>();
      out->slots = in->get<uint32_t>();
      break;
    }
    case ControlType::kProgress:
    case ControlType::kLeave:
      out->slot = in->get<uint32_t>();
      break;
    case ControlType::kClosed:
      out->slots = in->get<uint32_t>();
      break;
    case ControlType::kDone:
    case ControlType::kDoneQuery:
      out->slots = in->get<uint32_t>();
      out->number = in->get<uint64_t>();
      break;
    case ControlType::kNoMore:
    case ControlType::kHalf: {
      const auto stage = in->get<uint8_t>();
      if (stage > static_cast<uint8_t>(Stage::kBroadcast)) {
        return false;
      }
      out->stage = static_cast<Stage>(stage);
      break;
    }
    case ControlType::kMulticastKey:
      for (uint8_t& byte : out->multicastKey) {
        byte = in->get<uint8_t>();
      }
      break;
    case ControlType::kAnnounceSeen:
    case ControlType::kOver:
      break;
  }
  return !in->failed();
}

void ControlClocks::encode(WriteCursor* out) const {
  out->put(stampUs);
  out->put(echoUs);
  out->put(heldUs);
  out->put(next);
}

bool ControlClocks::decode(ReadCursor* in, ControlClocks* out) {
  out->stampUs = in->get<uint32_t>();
  out->echoUs = in->get<uint32_t>();
  out->heldUs = in->get<uint32_t>();
  out->next = in->get<uint64_t>();
  return !in->failed();
}

}  // namespace ubt
