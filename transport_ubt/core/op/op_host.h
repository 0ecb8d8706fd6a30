// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/wire/control.h"

namespace ubt {

// What an op needs of the context it belongs to.
class OpHost {
 public:
  virtual ~OpHost() = default;
  // Queues a record. `urgent`: do not wait for other records to share a
  // datagram with.
  virtual void control(int peer, const ControlRecord& record, bool urgent) = 0;
  // How long to wait for a peer's answer before asking again.
  virtual Duration retryAfter(int peer) const = 0;
  // When anything came from a peer last.
  virtual TimePoint lastHeard(int peer) const = 0;
  // Whether a peer that was heard before answers no question any more.
  virtual bool isSilent(int peer) const = 0;
  // What to suspect of a peer that has never been heard over UDP; empty if it
  // has been.
  virtual std::string silence(int peer) const = 0;
  // Whether a peer hears what this rank sends to all at once.
  virtual bool hearsGroup(int peer) const = 0;
  // The arena has no room for an op that `asker` alone has begun, or for any
  // other one (-1): drop results that can be asked for again, room that is not
  // used yet, and an op of a rank that alone began many. `more`: the bytes that
  // the asker's op may still take. False: there is nothing to drop.
  virtual bool makeRoom(int asker, size_t more) = 0;
};

}  // namespace ubt
