// SPDX-License-Identifier: Apache-2.0
//
// The conditions for a call's op to begin.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "tests/transport_ubt/core/one_rank.h"
#include "transport_ubt/core/session/session.h"

namespace ubt {
namespace {

// Three ranks: the first does all it can, the second enters and finishes
// everything, the third is silent. Nothing is repaired, so that calls end by
// their bounds.
class SessionLead : public ::testing::Test {
 protected:
  SessionLead() : rank_(setup()) { buckets_.reserve(100); }

  static OneRank::Setup setup() {
    OneRank::Setup setup;
    setup.size = 3;
    setup.options.leadOps = 2;
    setup.options.repair = RepairPolicy::kNone;
    setup.options.leadBytes = 10000;
    return setup;
  }
  OpId enter(uint32_t tag, size_t elements = 100) {
    buckets_.emplace_back(elements, 1.0F);
    const OpId id = rank_.session().enter(
        rank_.now, tag, floats(elements), bytesOf(buckets_.back()));
    return id;
  }
  // Runs ops that return; rank 2 does not finish them.
  void lead(uint32_t tag, size_t elements = 100) {
    const OpId id = enter(tag, elements);
    rank_.say(1, {ControlRecord::announce(id, floats(elements))});
    pass(std::chrono::milliseconds(200));
    ASSERT_TRUE(rank_.session().finished(id));
    rank_.session().leave(rank_.now, id);
    rank_.say(1, {ControlRecord::about(ControlType::kDone, id)});
  }
  void pass(Duration time) { rank_.at(rank_.now + time); }
  // The error of a call that waits for rank 2 until `late` after its timeout.
  std::string failureWhenNoticed(Duration late) {
    lead(0);
    lead(1);
    const OpId waits = enter(2);
    rank_.now += rank_.session().options().timeout + late;
    rank_.endpoint().deadlinePassed(rank_.now);
    EXPECT_TRUE(rank_.session().finished(waits));
    std::string failure = rank_.session().failure(waits);
    rank_.session().leave(rank_.now, waits);
    return failure;
  }

  OneRank rank_;
  std::vector<std::vector<float>> buckets_;
};

TEST_F(SessionLead, OneThatGivesUpSaysSoAndStopsWaiting) {
  lead(0);
  lead(1);
  EXPECT_TRUE(rank_.session().lingering());
  const OpId waits = enter(2);
  const OpId alsoWaits = enter(3);
  pass(std::chrono::milliseconds(985));
  rank_.say(2, {ControlRecord::announce({4, 0}, floats(100))});
  const OpId began = enter(4);  // awaited
  pass(std::chrono::milliseconds(14));
  EXPECT_FALSE(rank_.session().finished(waits));
  EXPECT_FALSE(rank_.session().finished(began));
  rank_.now += std::chrono::milliseconds(1);
  rank_.endpoint().deadlinePassed(rank_.now);
  for (const OpId& id : {waits, alsoWaits, began}) {
    ASSERT_TRUE(rank_.session().finished(id));
    EXPECT_EQ(rank_.session().failure(id).find("rank 2 has not finished"), 0u);
    rank_.session().leave(rank_.now, id);
  }
  EXPECT_FALSE(rank_.session().failure().empty());
  EXPECT_FALSE(rank_.session().lingering());
  EXPECT_EQ(rank_.sent().size(), 2u);  // a leave to each
}

// The process is stopped meanwhile, and continues after the timeout.
TEST_F(SessionLead, OneThatWasStoppedForTooLongBlamesItself) {
  lead(0);
  lead(1);
  const OpId waits = enter(2);
  rank_.now += std::chrono::seconds(2);
  rank_.say(2,
            {ControlRecord::about(ControlType::kDone, {0, 0}),
             ControlRecord::about(ControlType::kDone, {1, 0})});
  rank_.endpoint().deadlinePassed(rank_.now);
  ASSERT_TRUE(rank_.session().finished(waits));
  EXPECT_THAT(rank_.session().failure(waits),
              ::testing::StartsWith("rank 0 noticed too late"));
  rank_.session().leave(rank_.now, waits);
}

// Rank 2 still lags, but it may have waited for this rank.
TEST_F(SessionLead, OneThatNoticesItsTimeoutASecondLateBlamesItself) {
  EXPECT_THAT(failureWhenNoticed(std::chrono::milliseconds(1000)),
              ::testing::StartsWith("rank 0 noticed too late"));
}

TEST_F(SessionLead, OneThatNoticesItsTimeoutSoonerBlamesTheLaggard) {
  EXPECT_THAT(failureWhenNoticed(std::chrono::milliseconds(999)),
              ::testing::StartsWith("rank 2 has not finished"));
}

TEST_F(SessionLead, AWaitingOpBeginsWhenTheSlowRankIsDone) {
  lead(0);
  lead(1);
  const OpId waits = enter(2);
  pass(std::chrono::milliseconds(500));
  EXPECT_FALSE(rank_.session().finished(waits));
  rank_.say(2, {ControlRecord::about(ControlType::kDone, {0, 0})});
  rank_.say(1, {ControlRecord::announce(waits, floats(100))});
  pass(std::chrono::milliseconds(200));
  EXPECT_TRUE(rank_.session().finished(waits));
  EXPECT_TRUE(rank_.session().failure(waits).empty());
}

TEST_F(SessionLead, AnOpThatAPeerHasBegunNeedNotWait) {
  lead(0);
  lead(1);
  const OpId waits = enter(2);
  rank_.say(2, {ControlRecord::announce({3, 0}, floats(100))});
  const OpId begun = enter(3);
  rank_.say(2, {ControlRecord::announce({2, 0}, floats(100))});
  pass(std::chrono::milliseconds(200));
  EXPECT_TRUE(rank_.session().finished(waits));
  EXPECT_TRUE(rank_.session().finished(begun));
}

TEST_F(SessionLead, IsLimitedInBytesToo) {
  lead(0, 5000);  // exceeds the allowed lead, but alone
  const OpId waits = enter(1);
  pass(std::chrono::milliseconds(999));
  EXPECT_FALSE(rank_.session().finished(waits));
  pass(std::chrono::milliseconds(1));
  EXPECT_THAT(rank_.session().failure(waits),
              ::testing::HasSubstr("at most 10000 bytes may be ahead"));
}

// Two ranks, one op with enough slots to use up the initial credit: rank 0 has
// everything it needs, and still has results to send.
class SessionOwes : public ::testing::Test {
 protected:
  static constexpr uint32_t kSlots = 30;  // of each shard

  static OneRank::Setup setup(RepairPolicy repair) {
    OneRank::Setup setup;
    setup.windowBytes = 64 << 10;  // 45 slots
    setup.options.repair = repair;
    return setup;
  }
  void start(const OneRank::Setup& setup) {
    rank_.emplace(setup);
    rank_->say(1, {ControlRecord::announce({0, 0}, shape_)});
    enter(0);
  }
  void enter(uint32_t tag, Duration timeout = Duration{0}) {
    buckets_[tag].assign(shape_.elements, 1);
    const OpId id = rank_->session().enter(
        rank_->now, tag, shape_, bytesOf(buckets_[tag]), timeout);
    sent_ = rank_->sent();
    ASSERT_EQ(id, (OpId{tag, 0}));
  }
  // From rank 1: its contribution or its results.
  void slots(Stage stage) {
    PacketHeader header;
    header.op = {0, 0};
    header.stage = stage;
    header.elements = static_cast<uint32_t>(shape_.elements);
    header.contributors = 2;
    for (; header.slot < kSlots; header.slot++) {
      rank_->send(1, header, OneRank::Setup().slotBytes);
    }
    rank_->sent();  // credit, too
  }
  void leave() {
    rank_->sent();
    ASSERT_TRUE(rank_->session().finished({0, 0}));
    rank_->session().leave(rank_->now, {0, 0});
    rank_->sent();
  }
  // The first call ends as early as it can: no time passes.
  void owe(RepairPolicy repair) {
    start(setup(repair));
    slots(Stage::kScatter);
    slots(Stage::kBroadcast);
    leave();
  }
  // Whether the next call's op has begun. REQUIRES that the first op is not
  // over everywhere.
  bool begins() {
    rank_->at(rank_->now);
    return rank_->session().opsHeld() > 1;
  }

  const OpShape shape_ = floats(2 * kSlots * OneRank::Setup().slotBytes / 4);
  std::optional<OneRank> rank_;
  std::vector<float> buckets_[2];
  std::vector<OneRank::Sent> sent_;
};

TEST_F(SessionOwes, ResultsGoOutBeforeTheNextOpBegins) {
  owe(RepairPolicy::kBroadcast);
  enter(1);
  EXPECT_FALSE(begins());
  ControlRecord credit;
  credit.type = ControlType::kCredit;
  credit.number = 59;
  rank_->say(1, {credit});
  rank_->sent();
  EXPECT_FALSE(begins());  // one slot is left
  credit.number = 60;
  rank_->say(1, {credit});
  rank_->sent();
  EXPECT_TRUE(begins());
}

TEST_F(SessionOwes, ToNoRankLongerThanACallMayTake) {
  owe(RepairPolicy::kBroadcast);
  const TimePoint entered = rank_->now;
  enter(1);
  rank_->at(entered + std::chrono::milliseconds(79));
  EXPECT_FALSE(begins());
  rank_->at(entered + std::chrono::milliseconds(80));
  EXPECT_TRUE(begins());
}

TEST_F(SessionOwes, AtMostHalfOfTheNextCallsTimeout) {
  owe(RepairPolicy::kBroadcast);
  const TimePoint entered = rank_->now;
  enter(1, std::chrono::milliseconds(40));
  rank_->at(entered + std::chrono::milliseconds(19));
  EXPECT_FALSE(begins());
  rank_->at(entered + std::chrono::milliseconds(20));
  EXPECT_TRUE(begins());
  rank_->at(entered + std::chrono::milliseconds(40));
  ASSERT_TRUE(rank_->session().finished({1, 0}));
  EXPECT_THAT(rank_->session().failure({1, 0}),
              ::testing::HasSubstr("rank 1 never entered"));
}

// The wait is no deadlock if the other rank has left.
TEST_F(SessionOwes, NothingToARankThatIsGone) {
  owe(RepairPolicy::kBroadcast);
  enter(1);
  rank_->session().peerClosed(rank_->now, 1, "rank 1 is gone");
  ASSERT_TRUE(rank_->session().finished({1, 0}));
  EXPECT_EQ(rank_->session().failure({1, 0}), "rank 1 is gone");
}

TEST_F(SessionOwes, NothingToARankThatNeedsNothing) {
  owe(RepairPolicy::kBroadcast);
  enter(1);
  rank_->say(1, {ControlRecord::about(ControlType::kDone, {0, 0})});
  rank_->sent();
  EXPECT_EQ(rank_->session().opsHeld(), 1u);  // the first is over everywhere
  EXPECT_FALSE(rank_->session().lingering());
}

// Another rank has begun the op, and so the clocks of owners.
TEST_F(SessionOwes, AnOpThatAPeerHasBegunNeedNotWait) {
  owe(RepairPolicy::kBroadcast);
  rank_->say(1, {ControlRecord::announce({1, 0}, shape_)});
  enter(1);
  EXPECT_FALSE(rank_->session().finished({1, 0}));
  const bool announced =
      std::any_of(sent_.begin(), sent_.end(), [](const OneRank::Sent& one) {
        return one.packet.type == PacketType::kControl;
      });
  EXPECT_TRUE(announced);
}

// No rank waits for a rank whose process is late. Without repair, no rank waits
// for one whose call has ended like all others.
TEST_F(SessionOwes, NothingToARankThatCameTooLateOrWaitsForNothing) {
  start(setup(RepairPolicy::kBroadcast));
  rank_->at(rank_->now + std::chrono::milliseconds(20));
  slots(Stage::kBroadcast);
  leave();
  enter(1);
  EXPECT_TRUE(begins());

  owe(RepairPolicy::kNone);
  enter(1);
  EXPECT_TRUE(begins());
}

TEST_F(SessionOwes, NothingToAnybodyIfSwitchedOff) {
  OneRank::Setup off = setup(RepairPolicy::kBroadcast);
  off.options.resultsFirst = false;
  start(off);
  slots(Stage::kScatter);
  slots(Stage::kBroadcast);
  leave();
  enter(1);
  EXPECT_TRUE(begins());
}

}  // namespace
}  // namespace ubt
