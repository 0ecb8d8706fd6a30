// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/deadlines.h"
#include "transport_ubt/core/link/replay_window.h"
#include "transport_ubt/core/pacing/credit.h"
#include "transport_ubt/core/pacing/queueing_delay.h"
#include "transport_ubt/core/pacing/timer_lateness.h"
#include "transport_ubt/core/wire/control.h"
#include "transport_ubt/core/wire/packet_auth.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// A datagram to send. `payload` stays valid until anything but packetOut() is
// called, or, if it lies in `sealed`, until that is written to again.
struct OutPacket {
  static constexpr size_t kHeadBytesMax = 1200;

  int peer = 0;
  PacketType type = PacketType::kControl;
  size_t headBytes = 0;  // of `head`: the header, and a control's records
  const std::byte* payload = nullptr;
  size_t payloadBytes = 0;
  std::byte head[kHeadBytesMax];
  // Where an encrypted payload lies; grows to the largest and is kept.
  std::vector<std::byte> sealed;
};

// What one session keeps about one peer, whatever the op: keys and numbers of
// both directions, credit, clocks, and the control records that wait for a
// datagram. Not thread-safe.
class PeerLink {
 public:
  struct Setup {
    int self = 0;
    int peer = 0;
    bool group = false;  // what is sent is for all ranks at once
    uint64_t epoch = 0;
    PeerKeys keys;
    AuthMode auth = AuthMode::kHeader;
    // Control datagrams are no larger than the path lets data be. REQUIRES
    // room for clocks and a record or two: a slot of 64 bytes is enough.
    size_t datagramBytesMax = OutPacket::kHeadBytesMax;
    uint64_t sendCredit = 1;     // data numbers before the first limit
    uint64_t receiveCredit = 1;  // likewise, of the other direction
    // Where sealed datagrams are decrypted, one at a time; what is longer than
    // this is nobody's. Outlives the link.
    std::vector<std::byte>* opened = nullptr;
    // Where controlDue() is noted, for `peer`. Outlives the link; null:
    // nowhere.
    Deadlines* controlDues = nullptr;
  };
  // What an authentic datagram carries: a part of it, or, decrypted, of
  // Setup::opened.
  struct Payload {
    const std::byte* data = nullptr;
    size_t bytes = 0;
    // Control of a rank that differs in whether datagrams are sealed: only good
    // to learn so from its announcements.
    bool foreign = false;
  };
  // Adds what only the session knows to a control datagram.
  using Extra = std::function<void(WriteCursor*)>;

  explicit PeerLink(const Setup& setup)
      : send(setup.sendCredit),
        receive(setup.receiveCredit),
        setup_(setup),
        sendPayload_(payloadKeyOf(setup.keys.sendSeal)),
        receivePayload_(payloadKeyOf(setup.keys.receiveSeal)) {}

  SendCredit send;
  ReceiveCredit receive;

  // In -----------------------------------------------------------------------

  // Whether the datagram is the peer's; then the header's number is whole, and
  // `out` is what it carries.
  bool open(PacketHeader* header,
            const std::byte* datagram,
            size_t bytes,
            Payload* out) const;
  // Whether its number comes for the first time; marks it.
  bool isFirst(const PacketHeader& header);
  // The clocks of the control datagram with that number; older ones than known
  // say nothing new. Returns how long it waited on its way (QueueingDelay).
  Duration clocksIn(TimePoint now,
                    uint64_t number,
                    const ControlClocks& clocks);
  // Whether a control datagram in the own form has come from the peer. Until
  // then it may not have joined, so it gets no data.
  bool joined() const { return stampUs_ != 0; }

  // Out ----------------------------------------------------------------------

  // Queues a record. Records that are not urgent wait a while for others to
  // share a datagram with. False: too many wait already.
  bool queue(TimePoint now, const ControlRecord& record, bool urgent);
  // The peer should hear of its credit, by then.
  void creditBy(TimePoint when);
  bool creditDue() const { return creditDue_; }
  TimePoint controlDue() const { return controlDue_; }
  static TimePoint patience(TimePoint now);

  // Writes what is queued, behind clocks and `credit`. `late`: how late this
  // side may notice a deadline. False if there is nothing to say.
  bool controlOut(TimePoint now,
                  Duration late,
                  const Extra& credit,
                  OutPacket* out);
  // Completes a data packet: `header` needs its source, context, number and tag
  // yet. REQUIRES send.available().
  void dataOut(PacketHeader header,
               const std::byte* payload,
               size_t bytes,
               OutPacket* out);

  // How late the peer may notice a deadline, by its own words.
  Duration late(TimePoint now) const { return late_.worst(now); }
  // How long to wait for an answer before asking again.
  Duration retryAfter() const;

  // The form in which this side would rather get slots, and the other side.
  Form wish = Form::kPlain;
  Form peerWish = Form::kPlain;

  // Whether to tell the peer that this side begins no op any more.
  bool halted = false;

  // When anything authentic came last, for the first time.
  TimePoint heardAt{};
  bool heard() const { return heardAt != TimePoint{}; }

  // The peer is gone: there is nothing more to say, ever.
  void close();
  // But for this: it may hear although it is not heard. REQUIRES closed().
  void lastWord(TimePoint now, const ControlRecord& record);
  bool closed() const { return closed_; }

 private:
  void setControlDue(TimePoint when) {
    controlDue_ = when;
    if (setup_.controlDues != nullptr) {
      setup_.controlDues->set(setup_.peer, when);
    }
  }
  void address(PacketHeader header, OutPacket* out) const;
  void tag(const PacketHeader& header,
           const std::byte* payload,
           size_t covered,
           OutPacket* out) const;
  void seal(PacketHeader header,
            const std::byte* payload,
            size_t bytes,
            std::byte* sealed,
            OutPacket* out) const;

  const Setup setup_;
  const PayloadKey sendPayload_;
  const PayloadKey receivePayload_;
  ReplayWindow dataSeen_;
  ReplayWindow controlSeen_;
  uint64_t controlNumber_ = 0;
  std::deque<ControlRecord> control_;
  TimePoint controlDue_ = kNever;
  bool creditDue_ = false;
  Duration roundTrip_{0};            // smoothed; zero: not measured
  TimerLateness late_{Duration{0}};  // what it says; nothing is assumed
  QueueingDelay delay_;
  uint64_t clocksNumber_ = 0;  // of the newest clocks seen
  uint32_t stampUs_ = 0;       // the newest clock seen of the peer's
  TimePoint stampAt_{};
  bool closed_ = false;
};

}  // namespace ubt
