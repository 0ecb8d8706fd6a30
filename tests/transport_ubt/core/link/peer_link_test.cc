// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/link/peer_link.h"

#include <gtest/gtest.h>

#include <cstring>

namespace ubt {
namespace {

constexpr TimePoint kNow{std::chrono::seconds(100)};
constexpr size_t kSlotBytes = 1024;
const PeerLink::Extra kNoCredit = [](WriteCursor*) {};

// Both ends of one connection.
class PeerLinkTest : public ::testing::TestWithParam<AuthMode> {
 protected:
  PeerLinkTest() : here_(setup(0, 1, 7, 9)), there_(setup(1, 0, 9, 7)) {}

  PeerLink::Setup setup(int self, int peer, uint8_t send, uint8_t receive) {
    PeerLink::Setup setup;
    setup.self = self;
    setup.peer = peer;
    setup.epoch = 77;
    setup.auth = GetParam();
    setup.keys.send.fill(send);
    setup.keys.sendSeal.fill(send);
    setup.keys.receive.fill(receive);
    setup.keys.receiveSeal.fill(receive);
    setup.sendCredit = setup.receiveCredit = 4;
    setup.opened = &opened_;
    return setup;
  }

  static std::vector<std::byte> bytesOf(const OutPacket& packet) {
    std::vector<std::byte> bytes(packet.head, packet.head + packet.headBytes);
    bytes.insert(
        bytes.end(), packet.payload, packet.payload + packet.payloadBytes);
    return bytes;
  }

  std::vector<std::byte> data(const std::vector<std::byte>& payload) {
    OutPacket packet;
    here_.dataOut(PacketHeader(), payload.data(), payload.size(), &packet);
    return bytesOf(packet);
  }

  std::vector<std::byte> control() {
    OutPacket packet;
    EXPECT_TRUE(here_.controlOut(kNow, kNoCredit, &packet));
    return bytesOf(packet);
  }

  // Whether the other end accepts the datagram as genuine. Its payload_ then
  // points into taken_.
  bool opens(const std::vector<std::byte>& bytes) {
    taken_ = bytes;
    return PacketHeader::decode(taken_.data(), taken_.size(), &header_) &&
           there_.open(&header_, taken_.data(), taken_.size(), &payload_);
  }

  std::vector<std::byte> opened_ = std::vector<std::byte>(2 * kSlotBytes);
  PeerLink here_;
  PeerLink there_;
  PacketHeader header_;
  std::vector<std::byte> taken_;
  PeerLink::Payload payload_;
};

TEST_P(PeerLinkTest, CarriesASlot) {
  const std::vector<std::byte> slot(kSlotBytes, std::byte{5});
  const auto datagram = data(slot);
  ASSERT_TRUE(opens(datagram));
  EXPECT_EQ(header_.type, PacketType::kData);
  EXPECT_EQ(header_.source, 0);
  EXPECT_EQ(header_.context, 77u);
  ASSERT_EQ(payload_.bytes, slot.size());
  EXPECT_EQ(std::memcmp(payload_.data, slot.data(), slot.size()), 0);
}

TEST_P(PeerLinkTest, RefusesAHeaderWithAnyBitChanged) {
  const auto genuine = data(std::vector<std::byte>(64));
  ASSERT_TRUE(opens(genuine));
  for (size_t bit = 0; bit < 8 * PacketHeader::kBytes; bit++) {
    auto forged = genuine;
    forged[bit / 8] ^= std::byte(1 << bit % 8);
    EXPECT_FALSE(opens(forged)) << "bit " << bit;
  }
}

TEST_P(PeerLinkTest, RefusesControlWithAnyByteChanged) {
  here_.queue(kNow, ControlRecord::about(ControlType::kDone, {1, 2}), true);
  const auto genuine = control();
  ASSERT_TRUE(opens(genuine));
  for (size_t at = 0; at < genuine.size(); at++) {
    auto forged = genuine;
    forged[at] ^= std::byte{0x40};
    EXPECT_FALSE(opens(forged)) << "byte " << at;
  }
}

TEST_P(PeerLinkTest, DropsItsOwnPacketsAndRepeatedOnes) {
  const auto sent = data(std::vector<std::byte>(64));
  PacketHeader header;
  ASSERT_TRUE(PacketHeader::decode(sent.data(), sent.size(), &header));
  EXPECT_FALSE(here_.open(&header, sent.data(), sent.size(), &payload_));
  ASSERT_TRUE(opens(sent));
  EXPECT_TRUE(there_.isFirst(header_));
  EXPECT_FALSE(there_.isFirst(header_));
  // Control datagrams have their own numbers.
  here_.queue(kNow, ControlRecord::about(ControlType::kDone, {1, 2}), true);
  ASSERT_TRUE(opens(control()));
  EXPECT_TRUE(there_.isFirst(header_));
  EXPECT_FALSE(there_.isFirst(header_));
}

// Data numbers exceed the range of a header's field, also where many datagrams
// were lost.
TEST_P(PeerLinkTest, KnowsLongNumbersByTheirEnds) {
  constexpr PacketNumber kLost = (1 << (kNumberBitsOnWire - 1)) - 1;
  const std::vector<std::byte> slot(64);
  PacketNumber next = 0;
  std::vector<std::byte> first;
  for (int i = 0; i < 5; i++) {
    here_.send.raise(next + kLost + 1);
    while (here_.send.next() < next + kLost) {
      here_.send.take();
    }
    next = here_.send.next() + 1;
    const auto sent = data(slot);
    ASSERT_TRUE(opens(sent)) << i;
    EXPECT_EQ(header_.number, next - 1);
    there_.receive.arrived(header_.number);
    if (i == 0) {
      first = sent;
    }
  }
  EXPECT_GT(next, PacketNumber{2} << kNumberBitsOnWire);
  EXPECT_FALSE(opens(first));  // another has its number now
}

TEST_P(PeerLinkTest, WritesRecordsInOrderAsManyAsFitADatagram) {
  constexpr uint32_t kRecords = 300;
  EXPECT_EQ(here_.controlDue(), kNever);
  for (uint32_t i = 0; i < kRecords; i++) {
    here_.queue(kNow, ControlRecord::about(ControlType::kDone, {i, 0}), false);
  }
  EXPECT_GT(here_.controlDue(), kNow);  // may wait for more records
  here_.queue(
      kNow, ControlRecord::about(ControlType::kDone, {kRecords, 0}), true);
  EXPECT_EQ(here_.controlDue(), kNow);
  uint32_t next = 0;
  int datagrams = 0;
  OutPacket packet;
  while (here_.controlOut(kNow, kNoCredit, &packet)) {
    datagrams++;
    EXPECT_LE(packet.headBytes, OutPacket::kHeadBytesMax);
    ASSERT_TRUE(opens(bytesOf(packet)));
    ReadCursor cursor(payload_.data, payload_.bytes);
    ControlClocks clocks;
    ASSERT_TRUE(ControlClocks::decode(&cursor, &clocks));
    ControlRecord record;
    while (cursor.left() > 0) {
      ASSERT_TRUE(ControlRecord::decode(&cursor, &record));
      EXPECT_EQ(record.op.tag, next++);
    }
  }
  EXPECT_EQ(next, kRecords + 1);
  EXPECT_GT(datagrams, 1);
  EXPECT_EQ(here_.controlDue(), kNever);
}

TEST_P(PeerLinkTest, SaysNothingOnceClosed) {
  here_.queue(kNow, ControlRecord::about(ControlType::kDone, {1, 2}), true);
  here_.close();
  here_.queue(kNow, ControlRecord::about(ControlType::kDone, {1, 2}), true);
  EXPECT_TRUE(here_.closed());
  EXPECT_EQ(here_.controlDue(), kNever);
  OutPacket packet;
  EXPECT_FALSE(here_.controlOut(kNow, kNoCredit, &packet));
}

TEST_P(PeerLinkTest, LearnsTheRoundTripWithoutTheTimeThatThePeerHeldIt) {
  ControlClocks clocks;
  clocks.stampUs = 1;
  clocks.echoUs = 100000000 - 5000;  // sent 5 ms before kNow
  clocks.heldUs = 2000;
  EXPECT_FALSE(here_.joined());
  here_.clocksIn(kNow, 7, clocks);
  EXPECT_TRUE(here_.joined());
  EXPECT_TRUE(here_.creditDue());
  EXPECT_EQ(here_.roundTrip(), std::chrono::milliseconds(3));
  clocks.echoUs -= 9000;
  here_.clocksIn(kNow, 6, clocks);  // overtaken
  EXPECT_EQ(here_.roundTrip(), std::chrono::milliseconds(3));
  here_.clocksIn(kNow, 8, clocks);
  EXPECT_GT(here_.roundTrip(), std::chrono::milliseconds(3));
}

std::string modeName(const ::testing::TestParamInfo<AuthMode>& info) {
  constexpr const char* kNames[] = {"header", "full", "aead"};
  return kNames[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Modes,
                         PeerLinkTest,
                         ::testing::Values(AuthMode::kHeader,
                                           AuthMode::kFull,
                                           AuthMode::kAead),
                         modeName);

}  // namespace
}  // namespace ubt
