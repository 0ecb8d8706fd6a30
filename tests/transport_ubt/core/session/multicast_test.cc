// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/link/multicast.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/transport_ubt/core/one_rank.h"

namespace ubt {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kRanks = 4;
constexpr size_t kSlotBytes = 256;

// An owner, rank 0 of four, and its peers' messages.
class Owner : public ::testing::Test {
 protected:
  Owner() : multicast_(setup()) {}

  Multicast::Setup setup() {
    Multicast::Setup setup;
    setup.on = true;
    setup.size = kRanks;
    setup.masks.resize(kRanks);
    setup.datagramBytesMax = PacketHeader::kBytes + kSlotBytes;
    setup.opened = &opened_;
    return setup;
  }

  // Lets time pass to the next deadline. Returns whether a probe is due then.
  bool probes() {
    now_ = multicast_.nextDeadline();
    const auto passed = multicast_.deadlinePassed(now_, true);
    deaf_.insert(deaf_.end(), passed.deaf.begin(), passed.deaf.end());
    sought_ = passed.sought;
    return multicast_.probeOut(now_, &out_);
  }

  void sendSlot() {
    multicast_.dataOut(now_, PacketHeader(), slot_, kSlotBytes, &out_);
  }

  TimePoint now_{seconds(100)};
  std::vector<std::byte> opened_ = std::vector<std::byte>(2048);
  std::byte slot_[kSlotBytes] = {};
  OutPacket out_;
  Multicast multicast_;
  std::vector<int> deaf_;
  std::vector<int> sought_;
};

TEST_F(Owner, LooksForThoseThatDoNotHearWhileItIsInUse) {
  EXPECT_EQ(multicast_.nextDeadline(), kNever);
  multicast_.seek(now_);
  ASSERT_TRUE(probes());
  EXPECT_EQ(out_.peer, 0);  // to itself means: to all
  EXPECT_EQ(sought_, (std::vector<int>{1, 2, 3}));
  multicast_.heardBy(2, 10);
  EXPECT_TRUE(multicast_.hears(2));
  TimePoint last = now_;
  Duration pause{0};
  for (int i = 0; i < 12; i++) {
    probes();  // or finds that no answer is missing
    multicast_.heardBy(2, 10);
    if (!sought_.empty()) {
      EXPECT_EQ(sought_, (std::vector<int>{1, 3}));
      EXPECT_GE(now_ - last, pause);
      pause = now_ - last;
      last = now_;
    }
  }
  EXPECT_LE(pause, seconds(1));
  multicast_.deadlinePassed(now_ + seconds(2), false);
  EXPECT_EQ(multicast_.nextDeadline(), kNever);
}

TEST_F(Owner, StaysBelowTheLimitsOfAllRanksThatHear) {
  multicast_.heardBy(1, 3);
  multicast_.heardBy(2, 2);
  EXPECT_TRUE(multicast_.available());
  sendSlot();
  sendSlot();
  EXPECT_FALSE(multicast_.available());
  multicast_.heardBy(2, 1);  // overtaken by a newer one
  EXPECT_FALSE(multicast_.available());
  multicast_.heardBy(3, 2);  // too little to begin with
  EXPECT_FALSE(multicast_.hears(3));
  multicast_.heardBy(2, 9);
  EXPECT_TRUE(multicast_.available());
  multicast_.close(1);
  EXPECT_FALSE(multicast_.hears(1));
}

TEST_F(Owner, RanksThatOweAnswersAreFoundOut) {
  multicast_.heardBy(1, 9);
  multicast_.heardBy(2, 9);
  sendSlot();
  const TimePoint sent = now_;
  for (int i = 0; i < 3; i++) {
    ASSERT_TRUE(probes());
    multicast_.heardBy(1, 9);
  }
  EXPECT_TRUE(multicast_.hears(2));
  probes();
  EXPECT_EQ(deaf_, std::vector<int>{2});
  EXPECT_FALSE(multicast_.hears(2));
  EXPECT_TRUE(multicast_.hears(1));
  EXPECT_LE(now_ - sent, milliseconds(100));
  multicast_.heardBy(2, 9);  // it hears again
  EXPECT_TRUE(multicast_.hears(2));
}

TEST_F(Owner, ARankThatNeverRaisesItsLimitCountsAsDeaf) {
  multicast_.heardBy(1, 9);
  multicast_.heardBy(2, 1);
  sendSlot();
  for (int i = 0; multicast_.hears(2) && i < 10; i++) {
    ASSERT_FALSE(multicast_.available());
    multicast_.blocked(now_, Duration{0});
    probes();
    multicast_.heardBy(1, 9);
    multicast_.heardBy(2, 1);
  }
  EXPECT_EQ(deaf_, std::vector<int>{2});
  EXPECT_TRUE(multicast_.available());
}

// Its credit is requested soon, and it has the usual time for an answer.
TEST_F(Owner, ARankWithoutCreditHasTimeToAnswer) {
  multicast_.heardBy(1, 9);
  multicast_.heardBy(2, 1);
  sendSlot();
  const TimePoint sent = now_;
  multicast_.blocked(now_, Duration{0});
  ASSERT_TRUE(probes());
  EXPECT_LE(now_ - sent, milliseconds(5));
  while (multicast_.hears(2)) {
    multicast_.blocked(now_, Duration{0});
    probes();
  }
  EXPECT_GE(now_ - sent, milliseconds(60));
  EXPECT_LE(now_ - sent, milliseconds(100));
}

TEST_F(Owner, AsksNoRankThatOwesNothing) {
  multicast_.heardBy(1, 9);
  sendSlot();
  multicast_.heardBy(1, 9);
  EXPECT_FALSE(probes());
  EXPECT_EQ(multicast_.nextDeadline(), kNever);
}

// Rank 0 of three, and owner 1's multicast.
class Hearer : public ::testing::Test {
 protected:
  Hearer() : rank_(setup()), owner_(link()) {
    rank_.say(1, {ControlRecord::about(ControlType::kDone, {})});
  }

  static OneRank::Setup setup() {
    OneRank::Setup setup;
    setup.size = 3;
    setup.options.multicast = true;
    setup.options.repair = RepairPolicy::kNone;
    return setup;
  }

  static PeerLink::Setup link() {
    PeerLink::Setup link;
    link.self = 1;
    link.multicast = true;
    link.epoch = OneRank::kEpoch;
    link.keys = multicastKeys(seed());
    link.sendCredit = 1 << 20;
    return link;
  }

  static MulticastSeed seed() {
    MulticastSeed seed{};
    seed.fill(5);
    return seed;
  }

  void tellKey() {
    ControlRecord key;
    key.type = ControlType::kMulticastKey;
    key.multicastKey = seed();  // the mask is zero here
    rank_.say(1, {key});
  }

  void probe(uint64_t next) {
    OutPacket out;
    owner_.creditBy(rank_.now);
    owner_.controlOut(
        rank_.now,
        [&](WriteCursor* cursor) {
          ControlRecord record;
          record.type = ControlType::kBlocked;
          record.number = next;
          record.encode(cursor);
        },
        &out);
    last_.assign(out.head, out.head + out.headBytes);
    rank_.endpoint().packetIn(rank_.now, last_.data(), last_.size());
  }

  void data(Stage stage, size_t bytes = 64) {
    PacketHeader header;
    header.stage = stage;
    header.elements = header.contributors = 3;
    const std::vector<std::byte> payload(bytes);
    OutPacket out;
    owner_.dataOut(header, payload.data(), payload.size(), &out);
    last_.assign(out.head, out.head + out.headBytes);
    last_.insert(last_.end(), payload.begin(), payload.end());
    rank_.endpoint().packetIn(rank_.now, last_.data(), last_.size());
  }

  // The limit in the answers that are due; 0: there is none.
  uint64_t answer() {
    uint64_t limit = 0;
    for (const auto& sent : rank_.sent()) {
      for (const ControlRecord& record : OneRank::recordsIn(sent.packet)) {
        if (sent.packet.peer == 1 && record.type == ControlType::kHears) {
          limit = record.number;
        }
      }
    }
    return limit;
  }

  OneRank rank_;
  PeerLink owner_;
  std::vector<std::byte> last_;
};

TEST_F(Hearer, TakesNothingBeforeItKnowsTheKey) {
  probe(0);
  EXPECT_EQ(rank_.count(Counter::kNoMulticastKey), 1u);
  EXPECT_EQ(answer(), 0u);
  tellKey();
  probe(0);
  EXPECT_GT(answer(), 0u);
}

TEST_F(Hearer, AnswersOnceForEachThatComes) {
  tellKey();
  probe(0);
  EXPECT_GT(answer(), 0u);
  EXPECT_EQ(answer(), 0u);
  rank_.endpoint().packetIn(rank_.now, last_.data(), last_.size());
  EXPECT_EQ(rank_.count(Counter::kReplayed), 1u);
  EXPECT_EQ(answer(), 0u);
}

TEST_F(Hearer, TakesAReplayForNoSignOfLife) {
  tellKey();
  probe(0);
  rank_.now += milliseconds(1);
  std::vector<float> bucket(144, 1.0F);
  const OpId id = rank_.session().enter(
      rank_.now, 0, floats(bucket.size()), bytesOf(bucket));
  rank_.say(2, {ControlRecord::announce(id, floats(bucket.size()))});
  rank_.now += milliseconds(1);
  rank_.endpoint().packetIn(rank_.now, last_.data(), last_.size());
  EXPECT_EQ(rank_.count(Counter::kReplayed), 1u);
  rank_.at(rank_.now + milliseconds(500));
  ASSERT_TRUE(rank_.session().finished(id));
  const OpReport report = rank_.session().leave(rank_.now, id);
  EXPECT_EQ(report.broadcast[1].absent, report.broadcast[1].expected);
}

TEST_F(Hearer, LetsAnOwnerGoOnWhereItIs) {
  tellKey();
  probe(0);
  const uint64_t share = answer();
  probe(1000);
  EXPECT_EQ(answer(), 1000 + share);
}

// The window learns also of losses that no later data shows.
TEST_F(Hearer, LossesThatAProbeShowsMakeTheWindowSmaller) {
  tellKey();
  probe(0);
  uint64_t limit = answer();
  const uint64_t before = rank_.endpoint().shared().window.bytes();
  uint64_t next = 0;
  for (int i = 0; i < 200; i++) {
    for (; next + 4 < limit; next++) {
      data(Stage::kBroadcast, 1440);
    }
    for (; next < limit; next++) {
      OutPacket lost;
      owner_.dataOut({}, nullptr, 0, &lost);
    }
    probe(next);
    limit = answer();
  }
  EXPECT_LT(rank_.endpoint().shared().window.bytes(), before);
}

TEST_F(Hearer, TakesNoForgeryNoContributionAndNoNumberBeyondItsLimit) {
  tellKey();
  data(Stage::kBroadcast);  // no limit was named yet
  EXPECT_EQ(rank_.count(Counter::kUngranted), 1u);
  probe(1);
  EXPECT_GT(answer(), 1u);
  data(Stage::kScatter);
  EXPECT_EQ(rank_.count(Counter::kMismatched), 1u);
  EXPECT_EQ(rank_.session().opsHeld(), 0u);
  data(Stage::kBroadcast);
  EXPECT_EQ(rank_.count(Counter::kUnannounced), 1u);
  last_[PacketHeader::kTagOffset] ^= std::byte{1};
  rank_.endpoint().packetIn(rank_.now, last_.data(), last_.size());
  EXPECT_EQ(rank_.count(Counter::kBadTag), 1u);
}

TEST_F(Hearer, KnowsItsOwnEcho) {
  PacketHeader header;
  header.context = OneRank::kEpoch;
  header.multicast = true;
  header.number = kControlNumber;
  std::byte bytes[PacketHeader::kBytes];
  header.encode(bytes);
  rank_.endpoint().packetIn(rank_.now, bytes, sizeof(bytes));
  EXPECT_EQ(rank_.count(Counter::kOwnEcho), 1u);
}

// A seed is hidden and recovered. Different inputs give different keys.
TEST(GroupKeys, ComeFromASeedThatAMaskHides) {
  MulticastSeed seed{};
  seed.fill(1);
  MulticastMask mask{};
  mask.fill(7);
  EXPECT_NE(masked(seed, mask), seed);
  EXPECT_EQ(masked(masked(seed, mask), mask), seed);
  const PeerKeys keys = multicastKeys(seed);
  EXPECT_EQ(keys.send, keys.receive);
  EXPECT_EQ(keys.sendSeal, keys.receiveSeal);
  EXPECT_NE(keys.send, seed);
  EXPECT_NE(multicastKeys(mask).send, keys.send);
  EXPECT_FALSE(
      std::equal(keys.send.begin(), keys.send.end(), keys.sendSeal.begin()));
}

}  // namespace
}  // namespace ubt
