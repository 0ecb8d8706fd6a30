// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/link/peer_link.h"

#include <algorithm>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/wire/cursor.h"

namespace ubt {
namespace {

// Records that are not urgent wait this long for others to share a datagram.
constexpr Duration kControlDelay = std::chrono::milliseconds(1);
// The most records in a peer's queue. queue() refuses any further record.
constexpr size_t kControlQueueMax = 512;
// A longer sample of the round trip does not count.
constexpr int32_t kRoundTripUsMax = 1000000;
// A sample does not count if the peer held the datagram for more than this many
// times the sample. Two clocks may run apart by 1,000 ppm, so the error is at
// most an eighth.
constexpr uint32_t kHeldPartsMax = 125;

}  // namespace

bool PeerLink::open(PacketHeader* header,
                    const std::byte* datagram,
                    size_t bytes,
                    Payload* out) const {
  const bool control = header->type == PacketType::kControl;
  out->foreign = header->sealed != (setup_.auth == AuthMode::kAead);
  if (out->foreign && (!control || joined())) {
    return false;
  }
  header->number = control ? kControlNumber | nearestNumber(header->number,
                                                            controlSeen_.next())
                           : nearestNumber(header->number, receive.next());
  out->data = datagram + PacketHeader::kBytes;
  out->bytes = bytes - PacketHeader::kBytes;
  if (!header->sealed) {
    const bool whole = control || setup_.auth == AuthMode::kFull;
    return packetTag(setup_.keys.receive,
                     receivePayload_,
                     datagram,
                     header->number,
                     out->data,
                     whole ? out->bytes : 0) == header->tag;
  }
  if (out->bytes < kSealBytes ||
      out->bytes - kSealBytes > setup_.opened->size()) {
    return false;
  }
  out->data = setup_.opened->data();
  out->bytes -= kSealBytes;
  return openPacket(setup_.keys.receiveSeal,
                    datagram,
                    bytes,
                    header->number,
                    setup_.opened->data());
}

bool PeerLink::isFirst(const PacketHeader& header) {
  return header.type == PacketType::kControl
             ? controlSeen_.accept(header.number & ~kControlNumber)
             : dataSeen_.accept(header.number);
}

void PeerLink::clocksIn(TimePoint now,
                        uint64_t number,
                        const ControlClocks& clocks) {
  measured_ = Duration{0};
  if (!joined()) {
    creditBy(now);  // its first datagram: the peer may wait for an answer
  } else if (number < clocksNumber_) {
    return;
  }
  clocksNumber_ = number;
  stampUs_ = clocks.stampUs;
  stampAt_ = now;
  if (clocks.echoUs == 0) {
    return;
  }
  const auto us =
      static_cast<int32_t>(stampUsOf(now) - clocks.echoUs - clocks.heldUs);
  // The peer's clock measured a long time, or one of the hosts was stopped.
  if (us > kRoundTripUsMax ||
      clocks.heldUs / kHeldPartsMax > static_cast<uint32_t>(std::max(us, 1))) {
    return;
  }
  measured_ = std::chrono::microseconds(std::max(us, 1));
  roundTrip_ = roundTrip_ == Duration{0}
                   ? measured_
                   : roundTrip_ + (measured_ - roundTrip_) / 8;
}

TimePoint PeerLink::later(TimePoint now) {
  return now + kControlDelay;
}

bool PeerLink::queue(TimePoint now, const ControlRecord& record, bool urgent) {
  if (closed_) {
    return true;  // nobody misses it
  }
  if (control_.size() >= kControlQueueMax) {
    return false;
  }
  control_.push_back(record);
  setControlDue(std::min(controlDue_, urgent ? now : later(now)));
  return true;
}

void PeerLink::creditBy(TimePoint when) {
  if (closed_) {
    return;
  }
  creditDue_ = true;
  setControlDue(std::min(controlDue_, when));
}

bool PeerLink::controlOut(TimePoint now, const Extra& credit, OutPacket* out) {
  setControlDue(kNever);
  if (control_.empty() && !creditDue_) {
    return false;
  }
  std::byte* const records = out->head + PacketHeader::kBytes;
  const bool sealed = setup_.auth == AuthMode::kAead;
  const size_t around = PacketHeader::kBytes + (sealed ? kSealBytes : 0);
  WriteCursor cursor(
      records,
      std::min(OutPacket::kHeadBytesMax, setup_.datagramBytesMax) - around);
  ControlClocks clocks;
  clocks.stampUs = std::max(1u, stampUsOf(now));
  clocks.echoUs = stampUs_;
  clocks.heldUs = stampUsOf(now) - stampUsOf(stampAt_);
  clocks.next = send.next();
  clocks.encode(&cursor);
  credit(&cursor);
  creditDue_ = false;
  while (!control_.empty() && cursor.left() >= ControlRecord::kBytesMax) {
    control_.front().encode(&cursor);
    control_.pop_front();
  }
  if (!control_.empty()) {
    setControlDue(now);
  }
  PacketHeader header;
  header.type = PacketType::kControl;
  header.form = wish;
  header.number = kControlNumber | controlNumber_++;
  if (sealed) {
    seal(header, records, cursor.used(), records, out);
  } else {
    tag(header, records, cursor.used(), out);
  }
  out->headBytes = around + cursor.used();
  out->payload = nullptr;
  out->payloadBytes = 0;
  return true;
}

void PeerLink::dataOut(PacketHeader header,
                       const std::byte* payload,
                       size_t bytes,
                       OutPacket* out) {
  header.type = PacketType::kData;
  header.number = send.take();  // checks that a number is available
  sent.add(header.number, header.op, header.stage, header.slot);
  out->headBytes = PacketHeader::kBytes;
  if (setup_.auth == AuthMode::kAead) {
    if (out->sealed.size() < bytes + kSealBytes) {
      out->sealed.resize(bytes + kSealBytes);
    }
    seal(header, payload, bytes, out->sealed.data(), out);
    out->payload = out->sealed.data();
    out->payloadBytes = bytes + kSealBytes;
    return;
  }
  tag(header, payload, setup_.auth == AuthMode::kFull ? bytes : 0, out);
  out->payload = payload;
  out->payloadBytes = bytes;
}

// Completes the header, except for its tag, and writes it.
void PeerLink::address(PacketHeader header, OutPacket* out) const {
  header.halted = halted;
  header.multicast = setup_.multicast;
  header.source = static_cast<uint16_t>(setup_.self);
  header.context = PacketHeader::contextOf(setup_.epoch);
  header.encode(out->head);
  out->peer = setup_.peer;
  out->type = header.type;
}

// Addresses the header and tags it over `covered` bytes of payload.
void PeerLink::tag(const PacketHeader& header,
                   const std::byte* payload,
                   size_t covered,
                   OutPacket* out) const {
  address(header, out);
  WriteCursor(out->head + PacketHeader::kTagOffset, sizeof(header.tag))
      .put(packetTag(setup_.keys.send,
                     sendPayload_,
                     out->head,
                     header.number,
                     payload,
                     covered));
}

// Addresses the header and encrypts the payload to `sealed`. Each number comes
// here only once, because a packet that is sent again gets a new one.
void PeerLink::seal(PacketHeader header,
                    const std::byte* payload,
                    size_t bytes,
                    std::byte* sealed,
                    OutPacket* out) const {
  header.sealed = true;
  address(header, out);
  sealPacket(
      setup_.keys.sendSeal, out->head, header.number, payload, bytes, sealed);
}

void PeerLink::close() {
  closed_ = true;
  control_.clear();
  setControlDue(kNever);
}

void PeerLink::lastWord(TimePoint now, const ControlRecord& record) {
  UBT_REQUIRE(closed_);
  control_.push_back(record);
  setControlDue(now);
}

}  // namespace ubt
