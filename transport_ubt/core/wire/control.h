// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/wire/cursor.h"
#include "transport_ubt/core/wire/group_key.h"
#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// What a control datagram's records say. The values are on the wire
// (docs/wire_format.md); those missing are kept for incast and rate records.
enum class ControlType : uint8_t {
  kAnnounce = 1,      // a rank has entered the op: what it is going to add
  kAnnounceSeen = 2,  // the owner knows; no need to repeat
  kCredit = 3,        // data numbers below `limit` may be sent
  kBlocked = 4,       // the next data number, by a sender out of credit
  kRepair = 5,        // please send these slots again
  kProgress = 6,      // all slots of your shard below `slot` have arrived
  kClosed = 7,        // my shard's scatter stage is over; send no more
  kDone = 8,          // the op has returned here
  kDoneQuery = 9,     // likewise; and has it, at your side?
  kLeave = 10,        // this context is being destroyed, for a rank's sake
  kTookStage = 11,    // how long stages of a size class take, by my measure
  kGroupKey = 12,     // what my multicast's keys come from, masked
  kHears = 13,        // your multicast came; its numbers below may be sent
  kNoMore = 14,       // the op has returned here: I repeat no contribution
};

// One record. Which members count depends on the type.
struct ControlRecord {
  ControlType type = ControlType::kLeave;
  OpId op;
  OpShape shape;        // kAnnounce
  uint64_t number = 0;  // kCredit, kHears: limit; kBlocked: next
  Stage stage{};        // kRepair
  // kRepair: first slot; kProgress; kLeave: the rank that made it end, or
  // kNobody.
  uint32_t slot = 0;
  uint32_t slots = 0;  // kRepair: how many
  // kTookStage: the size class (SizeClasses) and the stages' times; 0: unknown.
  uint8_t sizeClass = 0;
  uint32_t scatterUs = 0;
  uint32_t broadcastUs = 0;
  GroupSeed groupKey{};  // kGroupKey

  static constexpr size_t kBytesMax = 32;
  static constexpr uint32_t kNobody = 0xffffffff;

  // A record that says nothing but its type and the op it is about.
  static ControlRecord about(ControlType type, const OpId& op) {
    ControlRecord record;
    record.type = type;
    record.op = op;
    return record;
  }
  static ControlRecord announce(const OpId& op, const OpShape& shape) {
    ControlRecord record = about(ControlType::kAnnounce, op);
    record.shape = shape;
    return record;
  }

  // Appends the record; the cursor fails if it does not fit.
  void encode(WriteCursor* out) const;

  // Reads one record. False if it is malformed or its type unknown; what
  // follows can then not be trusted.
  static bool decode(ReadCursor* in, ControlRecord* out);
};

// Every control datagram begins with clocks, so that both sides learn the
// round-trip time less the time the other side held the stamp, and how long the
// other side may keep anyone waiting for no reason of the network's.
// Units: microseconds; stamps modulo 2^32, of the writer's own clock.
struct ControlClocks {
  uint32_t stampUs = 0;  // when this datagram was written
  uint32_t echoUs = 0;   // the newest stamp seen from the peer; 0: none yet
  uint32_t heldUs = 0;   // how long ago that stamp arrived
  uint32_t lateUs = 0;   // how late the writer may notice a deadline

  static constexpr size_t kBytes = 16;
  void encode(WriteCursor* out) const;
  static bool decode(ReadCursor* in, ControlClocks* out);
};

}  // namespace ubt
