// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/wire/control.h"

namespace ubt {

// The services that an op's context provides.
class OpHost {
 public:
  virtual ~OpHost() = default;
  // Queues a record. `urgent`: it leaves at once; otherwise it may wait for
  // other records that share its datagram.
  virtual void control(TimePoint now,
                       int peer,
                       const ControlRecord& record,
                       bool urgent) = 0;
  // The time to wait for a peer's answer before asking again; at most
  // Retries::kPauseMost.
  virtual Duration retryAfter(TimePoint now, int peer) const = 0;
  // How long after a slot an overtaken earlier one of the same peer may still
  // arrive; then it counts as lost (RFC 9002, section 6.1.2).
  virtual Duration lossAfter(TimePoint now, int peer) const = 0;
  // lossAfter() less a round trip: what is left when the peer's report comes.
  virtual Duration lossAfterTrip(TimePoint now, int peer) const = 0;
  // When the last datagram of a peer arrived.
  virtual TimePoint lastHeard(int peer) const = 0;
  // Whether a peer that was heard before leaves questions unanswered now.
  virtual bool isSilent(int peer) const = 0;
  // The likely reason why a peer has never been heard over UDP; empty if it has
  // been.
  virtual std::string silence(int peer) const = 0;
  // Whether a peer hears this rank's multicast.
  virtual bool hearsMulticast(int peer) const = 0;
  // The arena has no room for an op. Drops results that can be asked for again,
  // reserved room that is not used yet, or an op of a rank that holds too much.
  // `asker`: the one rank that has begun the op; -1: there are others. `more`:
  // the bytes that the asker's op may still take. False: there was nothing to
  // drop.
  virtual bool makeRoom(int asker, size_t more) = 0;
  // Tells the user of this rank.
  virtual void warn(const std::string& text) = 0;
};

}  // namespace ubt
