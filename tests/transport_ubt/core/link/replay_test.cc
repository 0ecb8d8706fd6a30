// SPDX-License-Identifier: Apache-2.0
//
// Replayed datagrams: an attacker may record them and send them again.

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "tests/transport_ubt/core/one_rank.h"
#include "transport_ubt/core/session/session.h"

namespace ubt {
namespace {

using Datagram = std::vector<std::byte>;

// Rank 0 of three, and recorded datagrams of rank 1.
class Replay : public ::testing::Test {
 protected:
  static constexpr size_t kElements = 144;

  Replay() : rank_(setup()), link_(fromRank1()) {}

  static OneRank::Setup setup() {
    OneRank::Setup setup;
    setup.size = 3;
    setup.options.repair = RepairPolicy::kNone;
    return setup;
  }
  static PeerLink::Setup fromRank1() {
    PeerLink::Setup link;
    link.self = 1;
    link.epoch = OneRank::kEpoch;
    link.sendCredit = 100;
    return link;
  }

  Datagram control() {
    OutPacket out;
    link_.creditBy(rank_.now);
    link_.controlOut(
        rank_.now, [](WriteCursor*) {}, &out);
    return Datagram(out.head, out.head + out.headBytes);
  }
  Datagram contribution() {
    PacketHeader header;
    header.op = {9, 0};
    header.elements = kElements;
    const Datagram payload(kElements / 3 * sizeof(float));
    OutPacket out;
    link_.dataOut(header, payload.data(), payload.size(), &out);
    Datagram all(out.head, out.head + out.headBytes);
    all.insert(all.end(), payload.begin(), payload.end());
    return all;
  }
  void in(const Datagram& datagram) {
    rank_.endpoint().packetIn(rank_.now, datagram.data(), datagram.size());
  }
  // Rank 0's report on an op that does not involve rank 1, if this datagram
  // arrives during the op.
  OpReport during(const Datagram& datagram) {
    std::vector<float> bucket(kElements, 1.0F);
    rank_.now += std::chrono::milliseconds(1);
    const OpId id =
        rank_.session().enter(rank_.now, 0, floats(kElements), bytesOf(bucket));
    rank_.say(2, {ControlRecord::announce(id, floats(kElements))});
    rank_.now += std::chrono::milliseconds(1);
    in(datagram);
    rank_.at(rank_.now + std::chrono::milliseconds(50));
    EXPECT_TRUE(rank_.session().finished(id));
    return rank_.session().leave(rank_.now, id);
  }

  OneRank rank_;
  PeerLink link_;
};

TEST_F(Replay, OfControlIsNoSignOfLife) {
  const Datagram recorded = control();
  in(recorded);
  const OpReport report = during(recorded);
  EXPECT_EQ(rank_.count(Counter::kReplayed), 1u);
  EXPECT_EQ(report.broadcast[1].absent, report.broadcast[1].expected);
  EXPECT_EQ(report.broadcast[1].lost, 0u);
}

TEST_F(Replay, OfDataIsNoSignOfLife) {
  const Datagram recorded = contribution();
  in(recorded);
  ASSERT_EQ(rank_.count(Counter::kAcceptedData), 1u);
  const OpReport report = during(recorded);
  EXPECT_EQ(rank_.count(Counter::kDuplicateData), 1u);
  EXPECT_EQ(report.broadcast[1].absent, report.broadcast[1].expected);
  EXPECT_EQ(report.broadcast[1].lost, 0u);
}

// The first copy is not a replay.
TEST_F(Replay, IsOnlyARepeatedNumber) {
  const OpReport controlled = during(control());
  EXPECT_EQ(controlled.broadcast[1].cut, controlled.broadcast[1].expected);
}

TEST_F(Replay, NewDataIsASignOfLife) {
  const OpReport report = during(contribution());
  EXPECT_EQ(report.broadcast[1].cut, report.broadcast[1].expected);
}

}  // namespace
}  // namespace ubt
