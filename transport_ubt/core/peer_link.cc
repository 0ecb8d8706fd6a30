// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/peer_link.h"

#include <algorithm>

namespace ubt {
namespace {

// Records that can wait do so this long for others to share a datagram with.
constexpr Duration kControlPatience = std::chrono::milliseconds(1);
// Pauses between requests follow the round-trip time within these.
constexpr Duration kRetryMin = std::chrono::milliseconds(2);
constexpr Duration kRetryMax = std::chrono::milliseconds(50);
constexpr Duration kRetryUnknown = std::chrono::milliseconds(10);
// Records queued for one peer; repeated requests beyond that are dropped.
constexpr size_t kControlQueueMax = 512;

uint32_t microseconds(TimePoint at) {
  return static_cast<uint32_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(
          at.time_since_epoch())
          .count());
}

}  // namespace

bool PeerLink::isAuthentic(const PacketHeader& header,
                           const std::byte* datagram,
                           size_t bytes) const {
  const bool whole =
      header.type == PacketType::kControl || setup_.auth == AuthMode::kFull;
  return packetTag(setup_.keys.receive,
                   datagram,
                   datagram + PacketHeader::kBytes,
                   whole ? bytes - PacketHeader::kBytes : 0) == header.tag;
}

bool PeerLink::isFirst(const PacketHeader& header) {
  return header.type == PacketType::kControl
             ? controlSeen_.accept(header.number &
                                   ~PacketHeader::kControlNumber)
             : dataSeen_.accept(header.number);
}

void PeerLink::clocksIn(TimePoint now, const ControlClocks& clocks) {
  if (!heard()) {
    creditBy(now);  // its first word: it may wait for ours
  }
  stampUs_ = clocks.stampUs;
  stampAt_ = now;
  if (clocks.echoUs == 0) {
    return;
  }
  const auto us =
      static_cast<int32_t>(microseconds(now) - clocks.echoUs - clocks.heldUs);
  const Duration sample = std::chrono::microseconds(std::max(us, 1));
  roundTrip_ = roundTrip_ == Duration{0}
                   ? sample
                   : roundTrip_ + (sample - roundTrip_) / 8;
}

TimePoint PeerLink::patience(TimePoint now) {
  return now + kControlPatience;
}

void PeerLink::queue(TimePoint now, const ControlRecord& record, bool urgent) {
  if (closed_ || control_.size() >= kControlQueueMax) {
    return;
  }
  control_.push_back(record);
  controlDue_ = std::min(controlDue_, urgent ? now : patience(now));
}

void PeerLink::creditBy(TimePoint when) {
  creditDue_ = true;
  controlDue_ = std::min(controlDue_, when);
}

bool PeerLink::controlOut(TimePoint now, const Extra& credit, OutPacket* out) {
  controlDue_ = kNever;
  if (control_.empty() && !creditDue_) {
    return false;
  }
  std::byte* const records = out->head + PacketHeader::kBytes;
  WriteCursor cursor(records, OutPacket::kHeadBytesMax - PacketHeader::kBytes);
  ControlClocks clocks;
  clocks.stampUs = std::max(1u, microseconds(now));
  clocks.echoUs = stampUs_;
  clocks.heldUs = microseconds(now) - microseconds(stampAt_);
  clocks.encode(&cursor);
  credit(&cursor);
  creditDue_ = false;
  while (!control_.empty() && cursor.left() >= ControlRecord::kBytesMax) {
    control_.front().encode(&cursor);
    control_.pop_front();
  }
  if (!control_.empty()) {
    controlDue_ = now;
  }
  PacketHeader header;
  header.type = PacketType::kControl;
  header.number = PacketHeader::kControlNumber | controlNumber_++;
  seal(&header, records, cursor.used(), out);
  out->headBytes = PacketHeader::kBytes + cursor.used();
  out->payload = nullptr;
  out->payloadBytes = 0;
  return true;
}

void PeerLink::dataOut(PacketHeader header,
                       const std::byte* payload,
                       size_t bytes,
                       OutPacket* out) {
  header.type = PacketType::kData;
  header.number = send.take();
  seal(&header, payload, setup_.auth == AuthMode::kFull ? bytes : 0, out);
  out->headBytes = PacketHeader::kBytes;
  out->payload = payload;
  out->payloadBytes = bytes;
}

// Addresses the header, tags it over `covered` bytes of payload, writes it.
void PeerLink::seal(PacketHeader* header,
                    const std::byte* payload,
                    size_t covered,
                    OutPacket* out) const {
  header->source = static_cast<uint16_t>(setup_.self);
  header->destination = static_cast<uint16_t>(setup_.peer);
  header->epoch = setup_.epoch;
  header->encode(out->head);
  header->tag = packetTag(setup_.keys.send, out->head, payload, covered);
  header->encode(out->head);
  out->peer = setup_.peer;
  out->type = header->type;
}

Duration PeerLink::retryAfter() const {
  return roundTrip_ == Duration{0}
             ? kRetryUnknown
             : std::clamp(4 * roundTrip_, kRetryMin, kRetryMax);
}

void PeerLink::close() {
  closed_ = true;
  control_.clear();
  controlDue_ = kNever;
  blockedRetry = kNever;
}

}  // namespace ubt
