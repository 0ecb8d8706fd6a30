// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// How many slots each sender has delivered in one stage of one op, and whether
// more of them can come. Not thread-safe.
class StageProgress {
 public:
  explicit StageProgress(int senders) : flows_(senders) {}
  static size_t bytesFor(int senders) { return senders * sizeof(Flow); }

  // A sender marks its last slots: one in a hundred, but at least two, because
  // one may get lost. Returns the first marked slot, of `slots`.
  static uint32_t firstMarked(uint32_t slots) {
    constexpr uint32_t kMarkedMin = 2;
    return slots - std::min(slots, std::max((slots + 99) / 100, kMarkedMin));
  }

  // The sender owes this number of slots. Called once for each sender that owes
  // any, before the first slot arrives.
  void expect(int sender, uint32_t slots);
  // A slot of the sender has arrived for the first time. `marked`: it is one of
  // its last.
  void arrived(TimePoint now, int sender, bool marked);

  // The sender says that nothing more is on its way. False: it has ended.
  bool end(TimePoint now, int sender);
  // A slot of the sender was lost, and will not come. REQUIRES that it owes
  // one.
  void lost(TimePoint now, int sender);
  // A slot that counted as lost comes after all: arrived() follows.
  void found(int sender);

  uint64_t came() const { return came_; }
  uint64_t lost() const { return lost_; }

  // A sender has ended if none of its slots can come any more, if a marked slot
  // has arrived, or if it said so.
  bool hasEnded(int sender) const { return flows_[sender].ended; }
  uint32_t ended() const { return ended_; }
  uint32_t complete() const { return complete_; }
  bool allEnded() const { return ended_ == senders_; }
  // When half of the senders had ended; kNever: not yet.
  TimePoint halfEndedAt() const { return halfEndedAt_; }
  // When all had; kNever: not yet.
  TimePoint allEndedAt() const { return allEndedAt_; }
  // Of a new slot, or of a sender's word that nothing more comes. TimePoint{}:
  // neither has come.
  TimePoint lastArrival() const { return last_; }
  int lastSender() const { return lastSender_; }
  // The same of one sender.
  TimePoint lastArrival(int sender) const { return flows_[sender].last; }
  // When the sender would be complete at its pace; kNever: unknown.
  TimePoint projectedEnd(int sender) const;

  // Slots of a sender, or of all senders together, that may still come.
  uint32_t owed(int sender) const { return flows_[sender].open(); }
  uint64_t owed() const { return owed_ - came_ - lost_; }

  // The stage's duration if all of it arrives at the pace between `start` and
  // the last arrival; zero if nothing has arrived.
  Duration projected(TimePoint start) const;

 private:
  struct Flow {
    uint32_t owed = 0;
    uint32_t came = 0;
    uint32_t lost = 0;
    bool ended = false;
    TimePoint first{};
    TimePoint last{};

    uint32_t open() const { return owed - came - lost; }
  };

  void noteEnd(TimePoint now, Flow* flow);

  std::vector<Flow> flows_;
  uint64_t owed_ = 0;
  uint64_t came_ = 0;
  uint64_t lost_ = 0;
  uint32_t senders_ = 0;   // owing anything
  uint32_t complete_ = 0;  // senders
  uint32_t ended_ = 0;     // senders that have ended
  TimePoint last_{};       // arrival of a new slot
  int lastSender_ = 0;
  TimePoint halfEndedAt_ = kNever;
  TimePoint allEndedAt_ = kNever;
};

}  // namespace ubt
