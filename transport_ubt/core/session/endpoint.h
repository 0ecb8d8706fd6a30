// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/session/session.h"

namespace ubt {

// All sessions of one socket. Finds the session of each datagram, and holds the
// state that sessions share. It does no I/O and is not thread-safe.
class Endpoint {
 public:
  using Limits = SharedState::Limits;

  Endpoint(const Limits& limits, const Reduction& reduction);

  // The session lives until close(). Several ranks of one context may share an
  // endpoint. REQUIRES that no session of this epoch and rank is open here.
  Session* open(const Session::Setup& setup);
  void close(Session* session);

  // The verbs. REQUIRES that the datagram arrived at `now` or before.
  // `congested`: a queue on its way was long (RFC 3168, CE).
  void packetIn(TimePoint now,
                const std::byte* datagram,
                size_t bytes,
                bool congested = false);
  // The next datagram and the session it belongs to, or null.
  Session* packetOut(TimePoint now, OutPacket* out);
  // The socket's buffer was full, and dropped this number of datagrams.
  void overflowed(uint64_t datagrams);
  TimePoint nextDeadline() const;
  void deadlinePassed(TimePoint now);
  // All datagrams that arrived before `now` have been taken in.
  void drained(TimePoint now) { shared_.window.drained(now); }

  SharedState& shared() { return shared_; }
  const SharedState& shared() const { return shared_; }

 private:
  SharedState shared_;
  // The epoch, beginning with the part that headers carry, and the rank. So
  // sessions with the same header value are neighbours in the map.
  using Key = std::pair<uint64_t, int>;
  static Key keyOf(uint64_t epoch, int rank);

  std::map<Key, std::unique_ptr<Session>> sessions_;
  Key turn_{};  // the session that sends a burst now
};

}  // namespace ubt
