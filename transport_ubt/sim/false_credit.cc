// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/false_credit.h"

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/wire/control.h"
#include "transport_ubt/core/wire/cursor.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt::sim {
namespace {

constexpr size_t kCreditAt = PacketHeader::kBytes + ControlClocks::kBytes;

ControlRecord firstRecord(const Network::Datagram& datagram) {
  ReadCursor cursor(datagram.data() + kCreditAt, datagram.size() - kCreditAt);
  ControlRecord record;
  UBT_REQUIRE(ControlRecord::decode(&cursor, &record) &&
              record.type == ControlType::kCredit);
  return record;
}

}  // namespace

uint64_t creditIn(const Network::Datagram& datagram) {
  return firstRecord(datagram).number & ~ControlRecord::kWantsResults;
}

void setCredit(Network::Datagram* datagram,
               const PeerKeys& keys,
               uint64_t credit) {
  ControlRecord record = firstRecord(*datagram);
  record.number = (record.number & ControlRecord::kWantsResults) | credit;
  WriteCursor cursor(datagram->data() + kCreditAt,
                     datagram->size() - kCreditAt);
  record.encode(&cursor);
  PacketHeader header;
  UBT_REQUIRE(
      PacketHeader::decode(datagram->data(), datagram->size(), &header));
  WriteCursor(datagram->data() + PacketHeader::kTagOffset, sizeof(header.tag))
      .put(packetTag(keys.send,
                     payloadKeyOf(keys.sendSeal),
                     datagram->data(),
                     header.number,
                     datagram->data() + PacketHeader::kBytes,
                     datagram->size() - PacketHeader::kBytes));
}

}  // namespace ubt::sim
