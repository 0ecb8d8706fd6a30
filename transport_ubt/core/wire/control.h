// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/wire/cursor.h"
#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/core/wire/packet_crypto.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// The types of the records in a control datagram. The values are on the wire
// (docs/wire_format.md) and must not change.
enum class ControlType : uint8_t {
  kAnnounce = 1,       // the sender has entered an op of this shape
  kAnnounceSeen = 2,   // the owner has the announcement; stop repeating it
  kCredit = 3,         // data numbers below `number` may be sent
  kBlocked = 4,        // the sender has no credit for this number
  kRepair = 5,         // send these slots again; none: will more come?
  kProgress = 6,       // all slots of your shard below `slot` have arrived
  kClosed = 7,         // my shard's scatter stage is over; stop sending
  kDone = 8,           // the op has returned here
  kDoneQuery = 9,      // the same; asks whether the peer has returned, too
  kLeave = 10,         // this context ends; `slot` names the cause
  kHalf = 11,          // half of this stage's senders are complete here
  kMulticastKey = 12,  // seed of my multicast keys, masked
  kHears = 13,      // your multicast came; numbers below `number` may be sent
  kNoMore = 14,     // no slot of this stage is on its way to you
  kLost = 15,       // `slots` data numbers from `number` on did not arrive
  kOver = 16,       // the call has returned here: I repeat no contributions
  kLostSlots = 17,  // these slots were lost on their way to you, and I do not
                    // repeat them
};

// One record. The type decides which members are used.
struct ControlRecord {
  ControlType type = ControlType::kLeave;
  OpId op;
  OpShape shape;  // kAnnounce
  // kCredit, kHears: the limit; kBlocked, kLost: the number; kDone, kDoneQuery:
  // the hash of all results (ReplicaProof), 0: not told.
  uint64_t number = 0;
  Stage stage{};  // kRepair, kNoMore, kHalf, kLostSlots
  // kRepair, kLostSlots: the first slot; kProgress: the first that is missing;
  // kLeave: the rank at fault, or kNobody.
  uint32_t slot = 0;
  // kRepair, kLostSlots: number of slots. kClosed: contributions of a slot that
  // were cut while they were on their way. kDone, kDoneQuery: the same for
  // results.
  uint32_t slots = 0;
  MulticastSeed multicastKey{};  // kMulticastKey

  static constexpr size_t kBytesMax = 32;
  static constexpr uint32_t kNobody = 0xffffffff;
  // The bit of a credit's `number` that asks for results before contributions.
  static constexpr uint64_t kWantsResults = uint64_t{1} << 63;
  // With the paper's loops, the bits below it are the incast that the sender
  // of the record advertises (Incast).
  static constexpr int kIncastShift = 48;
  static constexpr uint64_t kIncastMost = 0x7fff;

  // A record that holds only its type and its op.
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

  // Reads one record. Returns false if it is malformed or its type is unknown.
  // The rest of the datagram cannot be parsed then.
  static bool decode(ReadCursor* in, ControlRecord* out);
};

// Every control datagram begins with clocks. They tell both sides the round
// trip, without the time that the other side held the stamp, and which data the
// other side should have by now.
struct ControlClocks {
  uint32_t stampUs = 0;  // when this datagram was written; never 0
  uint32_t echoUs = 0;   // the newest stamp from the peer; 0: none yet
  uint32_t heldUs = 0;   // time since that stamp arrived
  uint64_t next = 0;     // data numbers below it have been sent

  static constexpr size_t kBytes = 20;
  void encode(WriteCursor* out) const;
  static bool decode(ReadCursor* in, ControlClocks* out);
};

}  // namespace ubt
