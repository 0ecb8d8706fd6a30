// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/session/session.h"

namespace ubt {

// Everything behind one socket: finds the session that a datagram belongs to,
// and holds what sessions share. Sans-IO; not thread-safe.
class Endpoint {
 public:
  struct Limits {
    size_t arenaBytes = size_t{256} << 20;
    uint64_t windowBytesMin = 64 << 10;
    uint64_t windowBytesMax = 2 << 20;
    bool windowAdapts = true;  // ReceiveWindow
    bool trainsAdapt = true;   // LinkRate
    // Of the endpoints that share the arena's limit; outlives them. Null: the
    // limit is this one's alone.
    ArenaBudget* arenaBudget = nullptr;
  };

  Endpoint(const Limits& limits, const Reduction& reduction);

  // The session lives until close(). REQUIRES an epoch and rank not open here:
  // several ranks of one context may share an endpoint.
  Session* open(const Session::Setup& setup);
  void close(Session* session);

  // The four verbs. REQUIRES that a datagram has come by `now`: what seems to
  // come sooner than it did makes all others seem to wait (QueueingDelay).
  void packetIn(TimePoint now, const std::byte* datagram, size_t bytes);
  // The next datagram and the session it belongs to, or null.
  Session* packetOut(TimePoint now, OutPacket* out);
  TimePoint nextDeadline() const;
  void deadlinePassed(TimePoint now);

  SharedState& shared() { return shared_; }
  const SharedState& shared() const { return shared_; }

 private:
  SharedState shared_;
  // Epoch, what datagrams name of it first, and rank: sessions of one context
  // number are neighbours.
  using Key = std::pair<uint64_t, int>;
  static Key keyOf(uint64_t epoch, int rank);

  std::map<Key, std::unique_ptr<Session>> sessions_;
  Key turn_{};  // of the session whose burst it is
};

}  // namespace ubt
