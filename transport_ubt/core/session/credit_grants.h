// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/link/peer_link.h"

namespace ubt {

// How many slots each peer may have in flight to this rank, and when to tell
// it: a control loop without a state (docs/control_loops.md, Window).
class CreditGrants {
 public:
  // `slotBytes`: of a slot's datagram.
  CreditGrants(int peers, uint64_t slotBytes)
      : peers_(peers), slotBytes_(slotBytes) {}

  // The state of the receiver's socket and of this session's ops.
  struct Load {
    uint64_t windowBytes = 0;  // without multicast's part
    uint64_t senders = 0;      // to the socket, of all sessions
    uint64_t owed = 0;         // slots that the peer owes this rank
    uint64_t owedByAll = 0;    // slots that all peers owe it
    uint64_t held = 0;         // slots of credit that the other peers hold
  };

  // A peer's share of the window, in slots. Half of the window is split
  // equally, the other half in proportion to the slots that each peer still
  // owes. So a peer that falls behind catches up, and stages end earlier. A
  // peer gets more than an equal share (rounded up) only for slots that it
  // owes. Otherwise it would keep unused credit, and others would lack credit
  // when the next op begins. A share may have grown while other peers hold
  // credit of larger ones, so all credit together is limited, too.
  uint64_t share(const Load& load) const {
    const uint64_t slots = slotsOf(load);
    const uint64_t alike = slots / peers_;
    const uint64_t share =
        load.owedByAll == 0
            ? alike
            : alike / 2 + slots * load.owed / (2 * load.owedByAll);
    const uint64_t most = std::max(alike + 1, load.owed);
    const uint64_t left = slots - std::min(slots, load.held);
    return std::max<uint64_t>(1, std::min({share, most, left}));
  }

  // The share of one of `admitted` peers, if only they hold credit (Incast).
  uint64_t turnShare(const Load& load, int admitted) const {
    const uint64_t slots = slotsOf(load);
    const uint64_t left = slots - std::min(slots, load.held);
    return std::max<uint64_t>(1, std::min(slots / admitted, left));
  }

  // An owner's share of the window of all multicast, in slots.
  uint64_t multicastShare(uint64_t windowBytes) const {
    return std::max<uint64_t>(1, windowBytes / (peers_ * slotBytes_));
  }

  // Credit rides on other records. It leaves by itself soon when an eighth of a
  // share is used up, and at once when a quarter is left. Before that:
  // `otherwise`. So most of a window is in flight, and senders do not send in
  // bursts of half a share, which would meet in a queue.
  static TimePoint dueAt(TimePoint now,
                         uint64_t share,
                         uint64_t left,
                         TimePoint otherwise,
                         bool early = true) {
    if (!early) {
      return left <= (share + 1) / 2 ? now : otherwise;
    }
    const uint64_t eighth = std::max<uint64_t>(1, share / 8);
    return left <= (share + 1) / 4  ? now
           : left + eighth <= share ? PeerLink::later(now)
                                    : otherwise;
  }

 private:
  // This session's part of the socket's window.
  uint64_t slotsOf(const Load& load) const {
    const uint64_t senders = std::max(load.senders, peers_);
    return load.windowBytes / slotBytes_ * peers_ / senders;
  }

  const uint64_t peers_;
  const uint64_t slotBytes_;
};

}  // namespace ubt
