// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "transport_ubt/core/base/bit_set.h"
#include "transport_ubt/core/base/require.h"

namespace ubt {

// The slots that one op still has to send to one peer, of both stages:
// - scatter: the own contribution to the peer's shard, in slot order
// - broadcast: the own reduced shard, in the order of closing
// Slots that the peer has asked for again go first.
class SendQueue {
 public:
  // The number of slots of the peer's shard, and of the own shard.
  SendQueue(uint32_t scatterSlots, uint32_t broadcastSlots)
      : scatterSlots_(scatterSlots), broadcastSlots_(broadcastSlots) {}

  // The most bytes that one allocates.
  static size_t bytesFor(uint32_t scatterSlots, uint32_t broadcastSlots) {
    return BitSet::bytesFor(scatterSlots) + BitSet::bytesFor(broadcastSlots);
  }

  // The next slot of the scatter stage, or false. `repair`: it was sent before.
  bool nextScatter(uint32_t* slot, bool* repair) {
    if (takeRepair(&scatterAgain_, slot)) {
      *repair = true;
      return true;
    }
    if (scatterNext_ == scatterSlots_) {
      return false;
    }
    *slot = scatterNext_++;
    *repair = false;
    return true;
  }

  // The next slot of the broadcast stage, or false. The first gives an index
  // into the order of closing, which has `closed` entries by now. The second
  // gives a slot to repeat.
  bool nextBroadcast(uint32_t closed, uint32_t* index) {
    if (broadcastNext_ >= closed) {
      return false;
    }
    *index = broadcastNext_++;
    return true;
  }
  bool nextBroadcastAgain(uint32_t* slot) {
    return takeRepair(&broadcastAgain_, slot);
  }

  bool hasScatter() const {
    return scatterNext_ < scatterSlots_ || scatterAgain_.count() > 0;
  }
  bool hasBroadcast(uint32_t closed) const {
    return broadcastNext_ < closed || broadcastAgain_.count() > 0;
  }

  // The peer asks for a slot again. Ignored if it has not been sent yet.
  void repeatScatter(uint32_t slot) {
    if (slot < scatterNext_) {
      repeat(&scatterAgain_, scatterSlots_, slot);
    }
  }
  // The slot has been sent before.
  void repeatBroadcast(uint32_t slot) {
    repeat(&broadcastAgain_, broadcastSlots_, slot);
  }

  // Multicast has carried the entries before `next`.
  void broadcastSentTo(uint32_t next) {
    broadcastNext_ = std::max(broadcastNext_, next);
  }

  // The number of entries of the order of closing that have been sent.
  uint32_t broadcastSent() const { return broadcastNext_; }

  // The peer wants no further contributions, or no further results.
  void stopScatter() {
    scatterNext_ = scatterSlots_;
    scatterAgain_ = BitSet();
  }
  void stopBroadcast() {
    broadcastNext_ = broadcastSlots_;
    broadcastAgain_ = BitSet();
  }

 private:
  static bool takeRepair(BitSet* again, uint32_t* slot) {
    if (again->none()) {
      return false;
    }
    *slot = static_cast<uint32_t>(again->firstSet(0));
    again->clear(*slot);
    return true;
  }
  static void repeat(BitSet* again, uint32_t slots, uint32_t slot) {
    if (again->size() == 0) {
      *again = BitSet(slots);
    }
    again->set(slot);
  }

  uint32_t scatterSlots_;
  uint32_t broadcastSlots_;
  uint32_t scatterNext_ = 0;
  uint32_t broadcastNext_ = 0;
  BitSet scatterAgain_;    // sized on first use
  BitSet broadcastAgain_;  // sized on first use
};

}  // namespace ubt
