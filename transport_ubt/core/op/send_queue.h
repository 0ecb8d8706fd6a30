// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "transport_ubt/core/base/bit_set.h"
#include "transport_ubt/core/base/require.h"

namespace ubt {

// What one op still has to send to one peer: the peer's shard of the own
// contribution, in slot order; the own reduced shard, in the order in which
// its slots closed; and what the peer asked for again.
class SendQueue {
 public:
  // Slots of the peer's shard and of the own one.
  SendQueue(uint32_t scatterSlots, uint32_t broadcastSlots)
      : scatterSlots_(scatterSlots), broadcastSlots_(broadcastSlots) {}

  // What one allocates at most.
  static size_t bytesFor(uint32_t scatterSlots, uint32_t broadcastSlots) {
    return BitSet::bytesFor(scatterSlots) + BitSet::bytesFor(broadcastSlots);
  }

  // Next slot of the scatter stage, or false. `repair` tells a slot that was
  // sent before.
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

  // Likewise of the broadcast stage: an index into the order of closing, of
  // which `closed` entries exist, or a slot to repeat.
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

  // The peer asks for a slot again. Ignored if it was not sent yet.
  void repeatScatter(uint32_t slot) {
    if (slot < scatterNext_) {
      repeat(&scatterAgain_, scatterSlots_, slot);
    }
  }
  // The slot has been sent before.
  void repeatBroadcast(uint32_t slot) {
    repeat(&broadcastAgain_, broadcastSlots_, slot);
  }

  // The entries before that one have been sent by other means.
  void broadcastSentTo(uint32_t next) {
    broadcastNext_ = std::max(broadcastNext_, next);
  }

  // How many entries of the order of closing have been sent.
  uint32_t broadcastSent() const { return broadcastNext_; }

  // The peer wants no more contributions, or nothing more at all.
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
