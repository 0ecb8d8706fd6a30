// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/sim/flow.h"

namespace ubt::sim {

// The congestion window of a TCP sender: slow start that ends when delays grow
// (HyStart), then cubic (RFC 9438). Counts in bytes.
class CubicWindow {
 public:
  static constexpr double kMss = 1448;

  double bytes() const { return window_; }
  // Bytes were acknowledged after `roundTrip`, while the window was the limit.
  void acknowledged(TimePoint now,
                    double bytes,
                    Duration roundTrip,
                    Duration leastRoundTrip);
  // The flow had nothing to send for that long.
  void idle(Duration time) { epoch_ += time; }
  // Losses that count as one.
  void lost();
  // The sender waited for its timeout. Its loss counts apart: lost().
  void timedOut() { window_ = kMss; }

 private:
  double window_ = 10 * kMss;
  double threshold_ = 1e12;  // of slow start
  double most_ = 0;          // when the last loss came
  bool inEpoch_ = false;     // cubic growth since epoch_
  TimePoint epoch_{};
  double epochWindow_ = 0;
  double reno_ = 0;  // the window of an older TCP
};

// One direction of a TCP connection on a simulated network, as Linux does it. A
// loss is known once a segment that was sent later has arrived (RFC 8985). A
// probe finds a lost tail; at last a timeout does, of 200 ms and a round trip
// at least. Bytes arrive in order. It never gives up.
//
// It is better than TCP in these: each segment is acknowledged by itself;
// acknowledgements take no part of a link, and none is lost; the receiver's
// buffer never fills. It is worse in one: a segment of up to 64 KB is lost as a
// whole, as the lab's kernel does it.
class TcpFlow : public Flow {
 public:
  // All must outlive this. The connection is open: its round trip is known.
  TcpFlow(const SimOptions& options,
          EventQueue* events,
          Network* network,
          int from,
          int to,
          Then sendable);

  void write(uint64_t bytes, Then arrived) override;
  bool maySend() const override;
  void send() override;

  // Of segments, until now.
  uint64_t retransmissions() const { return retransmissions_; }
  uint64_t timeouts() const { return timeouts_; }

 private:
  struct Segment {
    uint64_t bytes = 0;
    uint64_t number = 0;  // in the order of transmissions
    TimePoint sentAt{};
    bool again = false;  // it is a retransmission
    bool lost = false;   // it waits to be sent again
  };
  struct Message {
    uint64_t end;  // in bytes of the stream
    Then arrived;
  };

  uint64_t segmentBytes() const;
  void transmit(uint64_t begin);
  void received(uint64_t begin, uint64_t bytes, uint64_t number);
  void acknowledged(uint64_t begin, uint64_t number);
  void findLosses(uint64_t number);
  void lose(Segment* segment, uint64_t begin);
  // The window gets smaller, once for all that is lost until now.
  void reduce();
  // Whether losses that have made the window smaller are being repaired.
  bool recovers() const;
  void sampled(Duration roundTrip);
  Duration timeout() const;
  void armTimer();
  void timerFired(uint64_t generation);

  // The sender.
  CubicWindow window_;
  uint64_t written_ = 0;
  uint64_t next_ = 0;                   // the first byte never sent
  std::map<uint64_t, Segment> flight_;  // not acknowledged, by first byte
  std::set<uint64_t> lost_;             // of flight_: to be sent again
  uint64_t inFlight_ = 0;               // bytes, without those lost
  uint64_t numbers_ = 0;                // transmissions until now
  uint64_t recoverUntil_ = 0;           // number: losses up to it have counted
  uint64_t recoverEnd_ = 0;             // byte: being repaired up to it
  Duration smoothed_{0};                // round trip; zero: none measured
  Duration variation_{0};
  Duration leastRoundTrip_ = Duration::max();
  uint32_t backoff_ = 0;  // timeouts in a row
  bool probed_ = false;   // the tail, since the last acknowledgement
  uint64_t probe_ = 0;    // its number
  bool probes_ = false;   // the timer is that of the probe
  uint64_t timer_ = 0;    // generation
  TimePoint idleSince_{};
  uint64_t retransmissions_ = 0;
  uint64_t timeouts_ = 0;

  // The receiver.
  TimePoint lastArrival_{};
  TimePoint lastAcknowledgement_{};          // when it is at the sender
  uint64_t inOrder_ = 0;                     // bytes
  std::map<uint64_t, uint64_t> outOfOrder_;  // bytes by first byte
  std::deque<Message> messages_;             // that have not arrived
};

}  // namespace ubt::sim
