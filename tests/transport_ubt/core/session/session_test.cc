// SPDX-License-Identifier: Apache-2.0
//
// A session's reactions to its peers' messages, honest or not.

#include "transport_ubt/core/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/transport_ubt/core/one_rank.h"

namespace ubt {
namespace {

ControlRecord record(ControlType type) {
  ControlRecord record;
  record.type = type;
  record.slot = ControlRecord::kNobody;
  return record;
}

// Memory ---------------------------------------------------------------------

TEST(Session, AnOpTooLargeForTheArenaDoesNotBegin) {
  OneRank rank({});
  OpShape huge = floats(UINT32_MAX);
  huge.type = ElementType::kFloat64;
  rank.say(1, {ControlRecord::announce({1, 0}, huge)});
  EXPECT_EQ(rank.session().opsHeld(), 0u);
  PacketHeader header;
  header.op = {2, 0};
  header.elementType = huge.type;
  header.elements = UINT32_MAX;
  rank.send(1, header, 1440);
  EXPECT_EQ(rank.session().opsHeld(), 0u);
  EXPECT_EQ(rank.count(Counter::kArenaFull), 1u);
  EXPECT_EQ(rank.arena().usedBytes(), 0u);
}

TEST(Session, OpsThatPeersBeginTakeRoomUntilTheCallerComes) {
  OneRank rank({});
  const OpShape shape = floats(10000);
  rank.say(1, {ControlRecord::announce({0, 0}, shape)});
  EXPECT_GT(rank.arena().usedBytes(), sizeof(Op));
  std::vector<float> bucket(shape.elements, 1);
  rank.session().enter(rank.now, 0, shape, bytesOf(bucket));
  // Now only memory for the own shard after the call is used.
  EXPECT_EQ(
      rank.arena().usedBytes(),
      ShardLayout(shape, 2, OneRank::Setup().slotBytes).shardSize(Shard(0)));
}

// A caller's own op needs no peer's permission.
TEST(Session, AFullArenaKeepsNoCallerOut) {
  OneRank::Setup setup;
  setup.arenaBytes = 64;
  setup.options.repair = RepairPolicy::kNone;
  OneRank rank(setup);
  const OpShape shape = floats(10000);
  std::vector<float> bucket(shape.elements, 1);
  const OpId id = rank.session().enter(rank.now, 0, shape, bytesOf(bucket));
  rank.say(1, {ControlRecord::announce(id, shape)});
  rank.at(rank.now + std::chrono::milliseconds(100));
  EXPECT_TRUE(rank.session().finished(id));
  EXPECT_TRUE(rank.session().failure(id).empty());
}

// Loss -----------------------------------------------------------------------

// The short slot that shows the loss says nothing about the size of the others.
TEST(Session, LostSlotsCountInFull) {
  OneRank rank({});
  const DeliveryWindow& window = rank.endpoint().shared().window;
  const uint64_t before = window.bytes();
  for (int shard = 0; shard < 8; shard++) {
    for (int slot = 0; slot < 79; slot++) {
      rank.send(1, {}, 1440);
    }
    rank.lose(1, 20);
    rank.send(1, {}, 64);
    rank.at(rank.now + std::chrono::milliseconds(500));
  }
  EXPECT_LT(window.bytes(), before);
}

// Reports --------------------------------------------------------------------

// Rank 0's report on one op, entered while peers send something, with repair
// none: three ranks, shards of three slots of 64 bytes.
class SessionReport : public ::testing::Test {
 protected:
  static OneRank::Setup setup() {
    OneRank::Setup setup;
    setup.size = 3;
    setup.slotBytes = 64;
    setup.arenaBytes = 8000;
    setup.options.repair = RepairPolicy::kNone;
    return setup;
  }
  PacketHeader data(Stage stage, uint32_t slot) const {
    PacketHeader header;
    header.stage = stage;
    header.op = {0, 0};
    header.elements = shape_.elements;
    header.contributors = stage == Stage::kBroadcast ? 3 : 0;
    header.slot = slot;
    return header;
  }
  void enter() {
    bucket_.assign(shape_.elements, 1);
    rank_.session().enter(rank_.now, 0, shape_, bytesOf(bucket_));
    rank_.say(1, {ControlRecord::announce({0, 0}, shape_)});
  }
  OpReport leave() {
    rank_.at(rank_.now + std::chrono::milliseconds(50));
    return rank_.session().leave(rank_.now, {0, 0});
  }

  OneRank rank_{setup()};
  const OpShape shape_ = floats(144);
  std::vector<float> bucket_;
};

TEST_F(SessionReport, AnOwnerThatGivesNoSignOfLifeIsAbsent) {
  enter();
  rank_.now += std::chrono::milliseconds(1);
  rank_.say(1, {});  // alive, but its data does not come
  const OpReport report = leave();
  EXPECT_EQ(report.broadcast[1].cut, report.broadcast[1].expected);
  EXPECT_EQ(report.broadcast[2].absent, report.broadcast[2].expected);
  EXPECT_EQ(report.broadcast[2].cut, 0u);
}

TEST_F(SessionReport, ResultsBehindTheBoundAreLateOnce) {
  enter();
  rank_.at(rank_.now + std::chrono::milliseconds(50));
  for (int i = 0; i < 2; i++) {
    rank_.send(1, data(Stage::kBroadcast, 0), 64);
  }
  const OpReport report = leave();
  EXPECT_EQ(report.broadcast[1].late, 64u);
  EXPECT_EQ(report.broadcast[1].cut, report.broadcast[1].expected - 64);
}

TEST_F(SessionReport, DataThatTheArenaRefusedIsNeitherCutNorLost) {
  rank_.say(1, {ControlRecord::announce({0, 0}, shape_)});
  // Another buffer takes the remaining room.
  ArenaBuffer rest = rank_.endpoint().shared().arena.reserve(
      rank_.arena().limitBytes() - rank_.arena().usedBytes());
  rank_.send(1, data(Stage::kScatter, 0), 64);
  rank_.send(1, data(Stage::kBroadcast, 0), 64);
  rank_.send(2, data(Stage::kBroadcast, 0), 64);
  EXPECT_EQ(rank_.count(Counter::kArenaFull), 3u);
  enter();
  rank_.send(2, data(Stage::kBroadcast, 0), 64);
  const OpReport report = leave();
  EXPECT_EQ(report.scatter[1].refused, 64u);
  EXPECT_EQ(report.scatter[1].cut, report.scatter[1].expected - 64);
  EXPECT_EQ(report.broadcast[1].refused, 64u);
  EXPECT_EQ(report.broadcast[1].cut, report.broadcast[1].expected - 64);
  EXPECT_EQ(report.broadcast[2].refused, 0u);
  EXPECT_EQ(report.broadcast[2].received, 64u);
}

// Control --------------------------------------------------------------------

TEST(Session, NothingBehindALeaveCounts) {
  OneRank rank({});
  rank.say(1, {record(ControlType::kLeave), record(ControlType::kBlocked)});
  rank.sent();
  EXPECT_FALSE(rank.session().failure().empty());
  EXPECT_GT(rank.endpoint().nextDeadline(), rank.now);
}

// The credit that allows more may be lost, while other records still bring the
// old limit.
TEST(Session, OldCreditDoesNotKeepABlockedSenderFromAsking) {
  OneRank::Setup setup;
  setup.windowBytes = 64 << 10;
  setup.options.repair = RepairPolicy::kNone;
  setup.options.boundScatter = std::chrono::milliseconds(500);
  OneRank rank(setup);
  const OpShape shape = floats(100000);
  std::vector<float> bucket(shape.elements, 1);
  rank.session().enter(rank.now, 0, shape, bytesOf(bucket));
  int asked = 0;
  for (int ms = 0; ms < 100; ms++) {
    rank.say(1, {record(ControlType::kCredit)});
    for (const OneRank::Sent& sent : rank.sent()) {
      for (const ControlRecord& out : OneRank::recordsIn(sent.packet)) {
        asked += out.type == ControlType::kBlocked;
      }
    }
    rank.now += std::chrono::milliseconds(1);
    rank.endpoint().deadlinePassed(rank.now);
  }
  EXPECT_GT(asked, 1);
  EXPECT_LT(asked, 40);
}

TEST(Session, EveryDatagramAndEveryDropCountsOnce) {
  OneRank rank({});
  rank.say(1, {});
  rank.say(1, {record(static_cast<ControlType>(99))});
  EXPECT_EQ(rank.count(Counter::kMalformed), 1u);
  EXPECT_EQ(rank.count(Counter::kAcceptedControl), 1u);
  std::vector<float> bucket(100);
  for (uint32_t tag = 0; tag < 600; tag++) {
    rank.session().enter(rank.now, tag, floats(bucket.size()), bytesOf(bucket));
    rank.say(1, {ControlRecord::announce({tag, 0}, floats(bucket.size()))});
  }
  EXPECT_GT(rank.count(Counter::kControlDropped), 0u);
  rank.say(1, {record(ControlType::kLeave)});
  rank.say(1, {});
  EXPECT_EQ(rank.count(Counter::kClosedPeer), 1u);
}

TEST(Session, ControlIsNoLargerThanASlotMayBe) {
  for (const AuthMode auth : {AuthMode::kHeader, AuthMode::kAead}) {
    OneRank::Setup setup;
    setup.slotBytes = 256;
    setup.options.auth = auth;
    OneRank rank(setup);
    std::vector<float> bucket(100);
    OpShape shape = floats(bucket.size());
    for (uint32_t tag = 0; tag < 60; tag++) {
      rank.session().enter(rank.now, tag, shape, bytesOf(bucket));
    }
    const size_t most = setup.slotBytes + PacketHeader::kBytes +
                        (auth == AuthMode::kAead ? kSealBytes : 0);
    const auto sent = rank.sent();
    EXPECT_GT(sent.size(), 4u);
    for (const OneRank::Sent& one : sent) {
      EXPECT_LE(one.packet.headBytes + one.packet.payloadBytes, most);
    }
  }
}

// Identity -------------------------------------------------------------------

TEST(Session, ClassAndOptionsFormsShareNoTags) {
  OneRank rank({});
  const OpShape mine = floats(100);
  OpShape theirs = floats(200);
  theirs.space = TagSpace::kClass;
  std::vector<float> bucket(200, 1);
  const OpId id = rank.session().enter(rank.now, 7, mine, bytesOf(bucket));
  const OpId other{7, 0, TagSpace::kClass};
  rank.say(1, {ControlRecord::announce(other, theirs)});
  EXPECT_FALSE(rank.session().finished(id));
  EXPECT_EQ(rank.session().opsHeld(), 2u);
  EXPECT_EQ(rank.session().enter(rank.now, 7, theirs, bytesOf(bucket)), other);
  EXPECT_FALSE(rank.session().finished(other));
}

// Sending --------------------------------------------------------------------

// Sessions of one endpoint take turns. Each sends a whole burst in its turn.
TEST(Session, NoSessionStarvesAnother) {
  OneRank::Setup setup;
  setup.sessions = 2;
  OneRank rank(setup);
  const OpShape shape = floats(200000);
  std::vector<float> buckets[2];
  for (int i = 0; i < 2; i++) {
    rank.say(1, {}, i);
    buckets[i].assign(shape.elements, 1);
    rank.session(i).enter(rank.now, 0, shape, bytesOf(buckets[i]));
  }
  std::vector<int> bursts;  // of data, one session's in a row
  const Session* last = nullptr;
  for (const OneRank::Sent& one : rank.sent()) {
    if (one.packet.type != PacketType::kData) {
      continue;
    }
    if (one.session != last) {
      bursts.push_back(0);
      last = one.session;
    }
    bursts.back()++;
  }
  // 400 kB each; a burst has 43 datagrams of them.
  ASSERT_GE(bursts.size(), 12u);
  for (size_t i = 0; i + 2 < bursts.size(); i++) {
    EXPECT_EQ(bursts[i], 43) << i;
  }
}

// Rank 1 needs nothing more of the older op. The newer one has the smaller tag,
// and it is rank 1's turn.
TEST(Session, DataOfAnOlderOpLeavesFirst) {
  OneRank::Setup setup;
  setup.size = 3;
  OneRank rank(setup);
  const OpShape shape = floats(100000);
  const uint32_t older = 7;
  const uint32_t newer = 3;
  std::vector<float> buckets[2];
  for (const uint32_t tag : {older, newer}) {
    std::vector<float>& bucket = buckets[tag == newer];
    bucket.assign(shape.elements, 1);
    rank.session().enter(rank.now, tag, shape, bytesOf(bucket));
    for (const int peer : {1, 2}) {
      rank.say(peer, {ControlRecord::announce({tag, 0}, shape)});
    }
  }
  rank.say(1, {ControlRecord::about(ControlType::kDone, {older, 0})});
  std::vector<uint32_t> tags;
  for (const OneRank::Sent& one : rank.sent()) {
    PacketHeader header;
    if (one.packet.type == PacketType::kData) {
      ASSERT_TRUE(
          PacketHeader::decode(one.packet.head, PacketHeader::kBytes, &header));
      tags.push_back(header.op.tag);
    }
  }
  const auto isOlder = [&](uint32_t tag) { return tag == older; };
  EXPECT_TRUE(std::is_partitioned(tags.begin(), tags.end(), isOlder));
  EXPECT_EQ(std::count_if(tags.begin(), tags.end(), isOlder), 93);
  EXPECT_GT(tags.size(), 93u);
}

// A peer knows only the number of a lost packet.
TEST(Session, LostSlotsAreRepeatedOrNamed) {
  for (const RepairPolicy repair :
       {RepairPolicy::kBroadcast, RepairPolicy::kBoth}) {
    OneRank::Setup setup;
    setup.options.repair = repair;
    OneRank rank(setup);
    const OpShape shape = floats(64);
    std::vector<float> bucket(shape.elements, 1);
    rank.session().enter(rank.now, 0, shape, bytesOf(bucket));
    rank.say(1, {ControlRecord::announce({0, 0}, shape)});
    ControlRecord lost = record(ControlType::kLost);
    lost.slots = 1;
    for (const OneRank::Sent& one : rank.sent()) {
      PacketHeader header;
      if (one.packet.type == PacketType::kData) {
        ASSERT_TRUE(PacketHeader::decode(
            one.packet.head, one.packet.headBytes, &header));
        lost.number = header.number;
      }
    }
    rank.say(1, {lost});
    int repeated = 0;
    std::vector<ControlRecord> named;
    for (const OneRank::Sent& one : rank.sent()) {
      repeated += one.packet.type == PacketType::kData;
      for (const ControlRecord& told : OneRank::recordsIn(one.packet)) {
        if (told.type == ControlType::kLostSlots) {
          named.push_back(told);
        }
      }
    }
    const bool names = repair == RepairPolicy::kBroadcast;
    EXPECT_EQ(repeated, names ? 0 : 1);
    ASSERT_EQ(named.size(), names ? 1u : 0u);
    if (names) {
      EXPECT_EQ(named[0].op, (OpId{0, 0}));
      EXPECT_EQ(named[0].stage, Stage::kScatter);
      EXPECT_EQ(named[0].slot, 0u);
      EXPECT_EQ(named[0].slots, 1u);
    }
  }
}

// Slots without room in the arena are skipped.
TEST(Session, ResultsThatWereNotKeptDelayNothing) {
  OneRank::Setup setup;
  setup.size = 3;
  setup.arenaBytes = 1000;
  setup.options.zeroLoss = 0;  // zeros travel without bytes
  setup.options.repair = RepairPolicy::kNone;
  OneRank rank(setup);
  const OpShape shape = floats(3 * 2944 / 4);  // slots of 1024, 1024, 896
  std::vector<float> bucket(shape.elements, 1);
  const OpId id = rank.session().enter(rank.now, 0, shape, bytesOf(bucket));
  rank.say(2, {ControlRecord::announce(id, shape)});
  rank.at(rank.now + std::chrono::milliseconds(20));
  ASSERT_TRUE(rank.session().finished(id));
  rank.session().leave(rank.now, id);
  rank.sent();
  rank.say(1, {});
  int data = 0;
  for (const OneRank::Sent& one : rank.sent()) {
    data += one.packet.type == PacketType::kData;
  }
  EXPECT_EQ(data, 1);
  EXPECT_EQ(rank.count(Counter::kNotRetained), 2u);
}

}  // namespace
}  // namespace ubt
