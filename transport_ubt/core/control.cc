// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/control.h"

namespace ubt {
namespace {

bool hasOp(ControlType type) {
  return type != ControlType::kCredit && type != ControlType::kBlocked &&
         type != ControlType::kLeave;
}

}  // namespace

void ControlRecord::encode(WriteCursor* out) const {
  out->put(static_cast<uint8_t>(type));
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
      out->put(number);
      break;
    case ControlType::kRepair:
      out->put(static_cast<uint8_t>(stage));
      out->put(slot);
      out->put(slots);
      break;
    case ControlType::kProgress:
    case ControlType::kLeave:
      out->put(slot);
      break;
    case ControlType::kAnnounceSeen:
    case ControlType::kClosed:
    case ControlType::kDone:
    case ControlType::kDoneQuery:
      break;
  }
}

bool ControlRecord::decode(ReadCursor* in, ControlRecord* out) {
  const auto type = in->get<uint8_t>();
  if (type < static_cast<uint8_t>(ControlType::kAnnounce) ||
      type > static_cast<uint8_t>(ControlType::kLeave)) {
    return false;
  }
  out->type = static_cast<ControlType>(type);
  if (hasOp(out->type)) {
    out->op.tag = in->get<uint32_t>();
    out->op.count = in->get<uint32_t>();
  }
  switch (out->type) {
    case ControlType::kAnnounce: {
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
      out->number = in->get<uint64_t>();
      break;
    case ControlType::kRepair: {
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
    case ControlType::kAnnounceSeen:
    case ControlType::kClosed:
    case ControlType::kDone:
    case ControlType::kDoneQuery:
      break;
  }
  return !in->failed();
}

void ControlClocks::encode(WriteCursor* out) const {
  out->put(stampUs);
  out->put(echoUs);
  out->put(heldUs);
}

bool ControlClocks::decode(ReadCursor* in, ControlClocks* out) {
  out->stampUs = in->get<uint32_t>();
  out->echoUs = in->get<uint32_t>();
  out->heldUs = in->get<uint32_t>();
  return !in->failed();
}

}  // namespace ubt
