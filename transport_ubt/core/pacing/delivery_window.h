// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/loop_set.h"
#include "transport_ubt/core/pacing/delivery_rate.h"
#include "transport_ubt/core/pacing/loss_response.h"
#include "transport_ubt/core/pacing/recent_most.h"

namespace ubt {

// Limits the bytes that all senders together may have in flight to one socket:
//
//     window = (need + (whole - need) x queue's part)
//              x traffic's part x marks' part
//     at most  maximum x buffer's part
//     whole  = kSpare x (delivery rate x round + trains)
//     need   = kNeed x delivery rate x round
//     round  = least round trip + hosts' delays
//
// The window covers the time from a credit to its data, and one train of each
// sender. Shares are fixed, so while half of the senders have nothing to send,
// half of the window lies idle. kSpare is twice kNeed, so the link is busy even
// then.
//
// Loss has three causes, and each has a LossResponse, which sets its part. If
// the socket says that its buffer was full, the buffer is the cause. If data
// arrives at 0.6 of the best rate or more, no other traffic takes a part of the
// link, so this window fills a queue alone. A window of kNeed leaves a queue
// almost empty. So even a little loss counts, and none is base loss, but this
// cause never makes the window smaller than that. The length of a queue rarely
// changes, so the window returns slowly (kQueueReturn). Otherwise, other
// traffic takes a part of the link. That may end soon, so the window returns
// fast (kTrafficReturn). A loss shows later than it happens, so a window after
// a lossy one tells nothing about the own queue.
//
// Data that came through a long queue is marked (ECN). While other traffic
// takes a part of the link, a fifth of the marked data counts as lost. So a
// window whose data is all marked shrinks by a fifth (RFC 3168: as for a loss).
// If this window fills the queue alone, marks tell only of delay.
//
// After a reduction, as many bytes as the old window had are not judged: they
// were in flight before (RFC 9002, section 7.3.2).
//
// Delay alone never shrinks the window: TCP fills queues, and a window that
// follows delay would starve. All sizes are bytes. Not thread-safe.
class DeliveryWindow {
 public:
  static constexpr double kNeed = 1.5;
  static constexpr double kSpare = 2 * kNeed;
  // The shares of a window that may be lost (LossResponse).
  static constexpr double kQueueTolerated = 0.004;
  static constexpr double kTrafficTolerated = 0.02;
  // Half of the data may be marked while other traffic takes a part of the
  // link.
  static constexpr double kMarksTolerated = 0.5 * LossResponse::kReduction;
  static constexpr Duration kQueueReturn = std::chrono::seconds(1);
  static constexpr Duration kTrafficReturn = std::chrono::milliseconds(20);
  static constexpr Duration kBufferReturn = std::chrono::seconds(10);

  // REQUIRES 0 < bytesMin <= bytesMax.
  DeliveryWindow(uint64_t bytesMin, uint64_t bytesMax, LoopSet without = {});

  // The first size of a window of at most `bytesMax`. Both sides compute it.
  static uint64_t startOf(uint64_t bytesMax, int senders, size_t slotBytes);

  // A session begins: senders of slots of `slotBytes` were told that `bytes`
  // may be in flight. While the rate is unknown, `whole` is the largest of all
  // calls' `bytes`. The window never falls below four of the largest slots.
  // bytesMax limits both.
  void start(uint64_t bytes, size_t slotBytes);

  // What hosts add to a round trip: events that this one notices late, and data
  // that waits in sockets, before credit and before other data.
  void hostsDelay(Duration delay) {
    hosts_ = delay;
    changed();
  }
  // All senders' trains together.
  void trains(uint64_t bytes) {
    trains_ = bytes;
    changed();
  }
  // A control datagram took this time to a peer and back, without the time that
  // the peer held it.
  void roundTrip(TimePoint now, Duration took) {
    roundTrip_.add(now, -took.count());
    changed();
  }

  // `congested`: the network marked the data.
  void arrived(TimePoint now, uint64_t bytes, bool congested = false);
  // These bytes were lost, and those arrived after all. `losses`: the number of
  // trains, or parts of them.
  void lost(uint64_t bytes, uint64_t losses);
  void overtaken(uint64_t bytes);
  // The socket's buffer was full, and dropped data.
  void overflowed() { overflowed_ = true; }
  // The socket is empty: all that came before `now` has arrived here.
  void drained(TimePoint now);
  // Nobody owes this socket data from now on: the pause until the next arrival
  // says nothing about the rate.
  void pause();

  uint64_t bytes() const;
  // What the link needs; 0 if unknown.
  uint64_t need() const;

 private:
  // A cause of loss, or of marks, and the loop that answers it.
  struct Cause {
    Loop loop;
    LossResponse response;
  };

  Duration round() const;
  double rateTimesRound() const;
  uint64_t computeBytes() const;
  // An input of bytes() has changed.
  void changed() { bytes_ = 0; }
  uint64_t ceiling() const;
  void lookIfPassed();
  void windowPassed();
  void reduce(Cause* cause, const LossResponse::Window& window);
  void marksPassed(Duration took, bool alone);

  mutable uint64_t bytes_ = 0;  // bytes(); 0: to be computed
  uint64_t bytesMin_;
  uint64_t slotBytes_ = 0;  // of the largest slots
  const uint64_t bytesMax_;
  const LoopSet without_;
  uint64_t start_;
  DeliveryRate rate_;
  RecentMost roundTrip_;  // nanoseconds, negative
  Duration hosts_{0};
  uint64_t trains_ = 0;

  Cause queue_{Loop::kQueue, {kQueueReturn, kQueueTolerated, false}};
  Cause traffic_;
  Cause marks_;
  // The socket's capacity may be less than the maximum.
  Cause buffer_{Loop::kBuffer, {kBufferReturn, kQueueTolerated, false}};
  bool hadLoss_ = false;          // the window before
  Duration passing_{0};           // of this window, without waits
  TimePoint arrivedAt_ = kNever;  // of the latest data; kNever: after a pause
  uint64_t came_ = 0;             // in this window
  uint64_t lost_ = 0;
  double losses_ = 0;
  uint64_t marked_ = 0;  // of came_
  bool overflowed_ = false;
  // Bytes that were in flight at the last reduction. Loss is not judged until
  // as many have passed. Zero: it is judged.
  uint64_t recovering_ = 0;
};

}  // namespace ubt
