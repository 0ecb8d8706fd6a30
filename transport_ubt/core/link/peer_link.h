// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/deadlines.h"
#include "transport_ubt/core/link/loss_detector.h"
#include "transport_ubt/core/link/replay_window.h"
#include "transport_ubt/core/link/sent_history.h"
#include "transport_ubt/core/pacing/credit.h"
#include "transport_ubt/core/wire/control.h"
#include "transport_ubt/core/wire/packet_crypto.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// A datagram to send. `payload` is valid until any call other than packetOut().
// If it points into `sealed`, it is valid until `sealed` is written again.
struct OutPacket {
  static constexpr size_t kHeadBytesMax = 1200;

  int peer = 0;
  PacketType type = PacketType::kControl;
  size_t headBytes = 0;  // bytes of `head`: header and control records
  const std::byte* payload = nullptr;
  size_t payloadBytes = 0;
  std::byte head[kHeadBytesMax];
  // Holds an encrypted payload. Grows to the largest one and is kept.
  std::vector<std::byte> sealed;
};

// The state that one session keeps for one peer across ops: keys and numbers of
// both directions, credit, clocks, and the control records that wait for a
// datagram. Not thread-safe.
class PeerLink {
 public:
  struct Setup {
    int self = 0;
    int peer = 0;
    bool multicast = false;  // packets go to all ranks, by multicast
    uint64_t epoch = 0;
    PeerKeys keys;
    AuthMode auth = AuthMode::kHeader;
    // The longest control datagram: no longer than the path lets data be.
    // REQUIRES room for clocks and a record or two; a slot of 64 bytes is
    // enough.
    size_t datagramBytesMax = OutPacket::kHeadBytesMax;
    uint64_t sendCredit = 1;  // data numbers before the first limit
    // Data numbers that the peer may use before its first limit.
    uint64_t receiveCredit = 1;
    // Buffer for the decryption of sealed datagrams, one at a time. A longer
    // datagram is rejected. Must outlive the link.
    std::vector<std::byte>* opened = nullptr;
    // If not null, controlDue() is noted here for `peer`. Must outlive the
    // link.
    Deadlines* controlDues = nullptr;
  };
  // The payload of an authentic datagram: a part of the datagram or, if
  // decrypted, of Setup::opened.
  struct Payload {
    const std::byte* data = nullptr;
    size_t bytes = 0;
    // The packet is control, and its sender seals packets while this rank does
    // not, or the reverse. Only its announcements count: they tell the ranks
    // that they disagree.
    bool foreign = false;
  };
  // Adds records that only the session knows to a control datagram.
  using Extra = std::function<void(WriteCursor*)>;

  explicit PeerLink(const Setup& setup)
      : send(setup.sendCredit),
        receive(setup.receiveCredit),
        setup_(setup),
        sendPayload_(payloadKeyOf(setup.keys.sendSeal)),
        receivePayload_(payloadKeyOf(setup.keys.receiveSeal)) {}

  SendCredit send;
  ReceiveCredit receive;
  LossDetector losses;  // of received data
  SentHistory sent;     // data

  // In -----------------------------------------------------------------------

  // Whether the datagram is authentic and from the peer. If so, the header's
  // number gets all of its bits, and `out` is the payload.
  bool open(PacketHeader* header,
            const std::byte* datagram,
            size_t bytes,
            Payload* out) const;
  // Whether the header's number comes for the first time. Marks it as seen.
  bool isFirst(const PacketHeader& header);
  // Takes the clocks of the control datagram with this number, unless newer
  // ones are known.
  void clocksIn(TimePoint now, uint64_t number, const ControlClocks& clocks);
  // The round trip that the latest clocks measured; zero: none.
  Duration measuredRoundTrip() const { return measured_; }
  // Whether a control datagram in this rank's mode (sealed or not) has come
  // from the peer. Until then the peer may not have joined, so it gets no data.
  bool joined() const { return stampUs_ != 0; }

  // Out ----------------------------------------------------------------------

  // Queues a record. A record that is not urgent waits a while for others to
  // share a datagram. Returns false if too many wait already.
  bool queue(TimePoint now, const ControlRecord& record, bool urgent);
  // The peer should be told its credit by `when`.
  void creditBy(TimePoint when);
  bool creditDue() const { return creditDue_; }
  TimePoint controlDue() const { return controlDue_; }
  static TimePoint later(TimePoint now);

  // Writes the queued records, behind clocks and `credit`. Returns false if
  // there is nothing to say.
  bool controlOut(TimePoint now, const Extra& credit, OutPacket* out);
  // Completes a data packet. `header` comes without source, context, number and
  // tag. REQUIRES send.available().
  void dataOut(PacketHeader header,
               const std::byte* payload,
               size_t bytes,
               OutPacket* out);

  // The smoothed round trip; zero: unknown.
  Duration roundTrip() const { return roundTrip_; }

  // The form in which this rank, and the peer, prefer to receive slots.
  Form wish = Form::kPlain;
  Form peerWish = Form::kPlain;

  // Whether the peer wants results before contributions, because it would
  // leave out some of these anyway.
  bool wantsResults = false;

  // Whether packets say that this side begins no further op.
  bool halted = false;

  // When an authentic packet arrived last, repetitions not counted.
  TimePoint heardAt{};
  bool heard() const { return heardAt != TimePoint{}; }

  // The peer is gone. Nothing is sent to it from now on, except lastWord().
  void close();
  // Queues one more record: the peer may hear, although nothing comes from it.
  // REQUIRES closed().
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
  Duration roundTrip_{0};      // smoothed; zero: unknown
  Duration measured_{0};       // by the latest clocks; zero: none
  uint64_t clocksNumber_ = 0;  // packet number of the newest clocks
  uint32_t stampUs_ = 0;       // the peer's newest stamp
  TimePoint stampAt_{};
  bool closed_ = false;
};

}  // namespace ubt
