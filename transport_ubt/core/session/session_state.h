// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "transport_ubt/core/base/arena.h"
#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/counters.h"
#include "transport_ubt/core/base/deadlines.h"
#include "transport_ubt/core/base/rank_groups.h"
#include "transport_ubt/core/base/reduction.h"
#include "transport_ubt/core/link/multicast.h"
#include "transport_ubt/core/link/peer_link.h"
#include "transport_ubt/core/op/op_parts.h"
#include "transport_ubt/core/pacing/delivery_window.h"
#include "transport_ubt/core/pacing/link_rate.h"
#include "transport_ubt/core/pacing/notice_delay.h"
#include "transport_ubt/core/pacing/timer_lateness.h"
#include "transport_ubt/core/pacing/train_length.h"
#include "transport_ubt/core/session/op_table.h"
#include "transport_ubt/core/wire/control.h"
#include "transport_ubt/core/wire/options.h"

namespace ubt {

struct SessionState;

// The state that all sessions on one socket share. Owned by the endpoint.
struct SharedState {
  struct Limits {
    size_t arenaBytes = size_t{256} << 20;
    uint64_t windowBytesMin = 64 << 10;
    uint64_t windowBytesMax = 16 << 20;
    LoopSet without = {};  // as in Options
    // Shared by all endpoints with a common limit of the arena; outlives them.
    // Null: this endpoint has a limit of its own.
    ArenaBudget* arenaBudget = nullptr;
  };

  SharedState(const Limits& limits, const Reduction& arithmetic)
      : arena(limits.arenaBytes, limits.arenaBudget),
        window(limits.windowBytesMin, limits.windowBytesMax, limits.without),
        trains(!limits.without.has(Loop::kTrains)),
        reduction(arithmetic) {}

  Arena arena;
  DeliveryWindow window;
  Counters counters;
  TimerLateness lateness;
  NoticeDelay noticeDelay;
  LinkRate link;
  TrainLength trains;
  Reduction reduction;
  int activeSenders = 0;  // peers of active sessions
  std::vector<SessionState*> sessions;
};

// The state that the parts of a session share: its peers and its ops. Session
// owns it. Not thread-safe.
struct SessionState {
  struct Setup {
    int rank = 0;
    int size = 1;
    uint64_t epoch = 0;
    size_t slotBytesMax = 0;            // the same on all ranks
    std::vector<PeerKeys> keys;         // by rank; the own entry is unused
    MulticastSeed multicastSeed{};      // of the own multicast; fresh
    std::vector<uint64_t> windowBytes;  // by rank: the largest window
    // The groups of hierarchical ops, the same on all ranks. Without groups, or
    // with groups of unequal sizes, hierarchical ops run as plain ones.
    std::optional<RankGroups> groups;
    Options options;
    // Called once for each long silence of a rank that is needed
    // (SilenceWatch). `heard`: the rank was heard before. May be empty.
    // REQUIRES that it calls nothing of this session's endpoint.
    std::function<void(int rank, bool heard)> silent;
    // Called with a warning for the user of this rank. As above.
    std::function<void(const std::string& text)> warn;
  };

  // `shared` must outlive this. Its `sessions` contain this while it lives.
  SessionState(const Setup& setup, SharedState* shared);
  ~SessionState();
  SessionState(const SessionState&) = delete;
  SessionState& operator=(const SessionState&) = delete;

  // Queues a record for a peer (OpHost::control).
  void control(TimePoint now,
               int peer,
               const ControlRecord& record,
               bool urgent);
  // See OpHost.
  Duration retryAfter(TimePoint now, int peer) const;
  Duration lossAfter(TimePoint now, int peer) const;

  OpParts partsOf(const OpShape& shape) const { return {shape, parts}; }
  // Whether some op has data for the peer.
  bool hasData(int peer) const;
  // The most bytes of data that go to one peer in its turn.
  size_t trainBytes(TimePoint now) const;
  // Data flows into this session while some op has not returned. Call this when
  // an op begins or returns, and when one that has not returned is erased.
  void updateActivity();
  bool active() const { return active_; }
  // The session is broken: erases all ops. Only their destructors run. No data
  // flows into the session any longer.
  void dropOps();

  const Setup setup;
  const OpParts::Context parts;
  SharedState* const shared;
  std::vector<std::byte> opened;  // one datagram, decrypted
  Deadlines controlDues;          // of peers
  std::vector<PeerLink> peers;
  Multicast multicast;
  OpTable ops;
  bool broken = false;  // Session::breakOff()

 private:
  // Eighths of a round trip, or more if hosts may be late.
  Duration longerThanTrip(TimePoint now, int peer, int eighths) const;
  void setActive(bool flows);

  bool active_ = false;
};

}  // namespace ubt
