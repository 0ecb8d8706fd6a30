// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/deadlines.h"
#include "transport_ubt/core/session/session_state.h"
#include "transport_ubt/core/wire/control.h"

namespace ubt {

// The data that the network loses, in both directions: finds lost numbers of
// peers (LossDetector) and reports them, and hands the reports of peers to the
// ops that sent the data. Not thread-safe.
class LostNumbers {
 public:
  // `session` must outlive this.
  explicit LostNumbers(SessionState* session);

  // A data number of the peer arrives for the first time, in a datagram of
  // `bytes`.
  void arrived(TimePoint now, int peer, uint64_t number, size_t bytes);
  // The peer has sent the data numbers below `next`.
  void used(TimePoint now, int peer, uint64_t next);
  // A multicast datagram of `bytes` arrives for the first time, and `skipped`
  // numbers before it have not come.
  void multicastArrived(uint64_t skipped, size_t bytes);
  // An owner has used this number of multicast numbers that have not come.
  void multicastSkipped(uint64_t count);
  // The peer misses data numbers. Ops repeat the slots, or say that they do
  // not.
  void reportIn(TimePoint now, int peer, const ControlRecord& record);

  TimePoint earliest() const { return dues_.earliest(); }
  void deadlinePassed(TimePoint now) {
    dues_.forDue(now, [&](int peer) { find(now, peer); });
  }

 private:
  // The weight of a datagram in the mean size. The last slot of a shard may be
  // short, and says little about those before it.
  static constexpr double kWeight = 1.0 / 16;

  void sized(size_t bytes);
  uint64_t bytesOf(uint64_t datagrams) const {
    return static_cast<uint64_t>(static_cast<double>(datagrams) *
                                 datagramBytes_);
  }
  // Finds numbers of the peer that have become lost, and reports them.
  void find(TimePoint now, int peer);
  void report(
      TimePoint now, int peer, uint64_t first, uint64_t count, uint64_t before);

  SessionState* const session_;
  Deadlines dues_;  // by peer: when a missing number counts as lost
  // The mean size of data datagrams; before the first, the maximum.
  double datagramBytes_;
};

}  // namespace ubt
