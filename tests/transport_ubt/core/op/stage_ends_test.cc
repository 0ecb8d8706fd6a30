// SPDX-License-Identifier: Apache-2.0
//
// When stages stop waiting (StopRule).

#include <gtest/gtest.h>

#include "tests/transport_ubt/core/one_op.h"

namespace ubt {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint32_t kSlots = 4;

// Four ranks. The usual time is 60 ms, the margin is 12 ms, x is 1.5.
class OpStopTest : public OneOp {
 protected:
  static OpBounds usual() {
    OpBounds bounds;
    bounds.rule = OpBounds::Rule::kLearned;
    bounds.limit = seconds(100);
    bounds.stop = {milliseconds(60), 1.5, milliseconds(12)};
    bounds.absentMost = .5;
    return bounds;
  }
  // This rank and ranks 1 and 2 enter, which starts the clock.
  void start(const OpBounds& bounds = usual()) {
    begin(4, kSlots, bounds);
    enter();
    for (const int rank : {1, 2}) {
      op_->announced(now_, rank, op_->shape());
    }
    startedAt_ = now_;
  }
  // Contributions of a rank to the first `slots` slots.
  void contributions(int rank, uint32_t slots) {
    for (uint32_t slot = 0; slot < slots; slot++) {
      contribution(rank, slot, slot >= kSlots - 2);
    }
  }
  void passTo(int ms) { pass(startedAt_ + milliseconds(ms) - now_); }
  bool closed() const { return op_->hasResults(); }
  // The shard closes then, and not before.
  void expectEnd(int ms) {
    passTo(ms - 1);
    EXPECT_FALSE(closed());
    passTo(ms);
    EXPECT_TRUE(closed());
  }

  TimePoint startedAt_{};
};

TEST_F(OpStopTest, NothingIsCutBeforeHalfOfTheOthersAreThrough) {
  start();
  for (const int rank : {1, 2, 3}) {
    contributions(rank, 2);
  }
  passTo(5000);
  EXPECT_FALSE(closed());
}

TEST_F(OpStopTest, NothingIsCutBeforeMostHaveEntered) {
  begin(4, kSlots, usual());
  enter();
  startedAt_ = now_;
  contributions(1, kSlots);
  passTo(5000);
  EXPECT_FALSE(closed());
}

TEST_F(OpStopTest, DelayedDataHasXTimesTheUsualTime) {
  start();
  contributions(3, 1);
  passTo(50);
  contributions(1, kSlots);
  contributions(2, kSlots);
  expectEnd(90);
  const OpSample sample = op_->sample();
  EXPECT_TRUE(sample.senders[3].cut);
  EXPECT_EQ(sample.senders[1].took, milliseconds(50));
  EXPECT_DOUBLE_EQ(sample.cutLate, 3.0 / (4 * 4 * kSlots));
  EXPECT_EQ(sample.cutAbsent, 0);
}

TEST_F(OpStopTest, DataThatComesInTimeIsAddedAndTheShardClosesAtOnce) {
  start();
  contributions(3, 1);
  contributions(1, kSlots);
  contributions(2, kSlots);
  passTo(89);
  EXPECT_FALSE(closed());
  for (uint32_t slot = 1; slot < kSlots; slot++) {
    contribution(3, slot, true);
  }
  EXPECT_TRUE(closed());
  EXPECT_EQ(op_->sample().cutLate, 0);
}

TEST_F(OpStopTest, ASlowNetworkIsWaitedForAtAllRanks) {
  start();
  contributions(3, 1);
  passTo(200);
  contributions(1, kSlots);
  contributions(2, kSlots);
  expectEnd(300);
}

TEST_F(OpStopTest, AnOwnerThatHasClosedIsThrough) {
  start();
  for (const int rank : {1, 2, 3}) {
    contributions(rank, 1);
  }
  passTo(70);
  op_->shardClosed(now_, 1, 0);
  passTo(80);
  EXPECT_FALSE(closed());
  op_->shardClosed(now_, 2, 5);
  expectEnd(120);  // 1.5 times 80 ms
  // 9 here, 5 there, of 4 contributions to each of 16 slots.
  EXPECT_DOUBLE_EQ(op_->sample().cutLate, 14.0 / 64);
}

// A congested owner gets no contributions in time, but hears that others do.
TEST_F(OpStopTest, AnOwnerWithHalfOfItsContributionsIsThrough) {
  start();
  for (const int rank : {1, 2, 3}) {
    contributions(rank, 1);
  }
  passTo(60);
  op_->halfEnded(now_, 1, Stage::kScatter);
  op_->halfEnded(now_, 3, Stage::kBroadcast);
  passTo(70);
  op_->halfEnded(now_, 2, Stage::kScatter);
  expectEnd(105);  // 1.5 times 70 ms
}

TEST_F(OpStopTest, ItTellsOnceThatHalfOfItsSendersAreComplete) {
  start();
  contributions(1, kSlots);
  EXPECT_TRUE(host_.halves.empty());
  contributions(2, kSlots);
  contributions(3, kSlots - 1);
  const std::vector<std::pair<int, Stage>> toAll{
      {1, Stage::kScatter}, {2, Stage::kScatter}, {3, Stage::kScatter}};
  EXPECT_EQ(host_.halves, toAll);
}

TEST_F(OpStopTest, TheLastRankToEnterTellsAtOnceThatHalfAreThrough) {
  begin(4, kSlots, usual());
  contributions(1, kSlots);
  contributions(2, kSlots);
  EXPECT_TRUE(host_.halves.empty());
  enter();
  EXPECT_EQ(host_.halves.size(), 3u);
}

TEST_F(OpStopTest, ResultsHaveXTimesTheTimeInWhichHalfOfThemCame) {
  options_.repair = RepairPolicy::kNone;
  OpBounds bounds = usual();
  bounds.resultsStop = {milliseconds(120), 1.5, milliseconds(12)};
  start(bounds);
  for (const int rank : {1, 2, 3}) {
    contributions(rank, kSlots);
  }
  result(1, 0);
  passTo(140);
  EXPECT_TRUE(host_.halves.size() == 3);  // of contributions
  for (uint32_t slot = 1; slot < kSlots; slot++) {
    result(1, slot);
  }
  op_->halfEnded(now_, 2, Stage::kBroadcast);
  passTo(209);
  EXPECT_FALSE(op_->finished());
  passTo(210);
  EXPECT_TRUE(op_->finished());
  // Of 4 x 4 pairs of ranks, each with kSlots slots, 2 are missing here.
  (void)op_->leave(now_);
  op_->done(now_, 1, UINT32_MAX, 0);
  EXPECT_LE(op_->sample().cutResults, (2 + 4) / 16.0);
  EXPECT_GE(op_->sample().cutResults, 2 / 16.0);
}

TEST_F(OpStopTest, AnAbsentRankIsCutEarlier) {
  start();
  contributions(1, kSlots);
  contributions(2, kSlots);
  expectEnd(72);
  EXPECT_EQ(op_->sample().cutAbsent, .25);
  EXPECT_EQ(op_->sample().cutLate, 0);
}

// Two of four ranks are in each slot, and rank 2 has entered.
TEST_F(OpStopTest, AnAbsentRankIsNotCutBeforeAMajorityIsHere) {
  start();
  passTo(50);
  contributions(1, kSlots);
  op_->shardClosed(now_, 2, 0);
  passTo(500);
  EXPECT_FALSE(closed());
  contributions(2, kSlots);
  pass(milliseconds(1));
  EXPECT_TRUE(closed());
  EXPECT_DOUBLE_EQ(op_->sample().cutAbsent, .25);
}

TEST_F(OpStopTest, AnAbsentRankIsCutWithoutAMajorityIfNothingIsRepaired) {
  options_.repair = RepairPolicy::kNone;
  start();
  passTo(50);
  contributions(1, kSlots);
  op_->shardClosed(now_, 2, 0);
  passTo(100);
  EXPECT_TRUE(closed());
}

TEST_F(OpStopTest, AnEndThatOnlyNewsShowsIsNoStopOfTheHost) {
  start();
  contributions(1, kSlots);
  contributions(2, kSlots - 1);
  op_->shardClosed(now_, 2, 0);
  passTo(80);  // rank 2 is waited for until 90, rank 3 until 72
  EXPECT_FALSE(closed());
  contribution(2, kSlots - 1, true);
  op_->deadlinePassed(now_);
  EXPECT_TRUE(closed());
}

TEST_F(OpStopTest, TheTimeoutLimitsTheNetworksTime) {
  OpBounds bounds = usual();
  bounds.limit = milliseconds(100);
  start(bounds);
  contributions(1, kSlots);
  contributions(2, kSlots);
  contributions(3, 1);
  expectEnd(50);
}

TEST_F(OpStopTest, WhatOtherOwnersReportIsLimited) {
  start();
  op_->shardClosed(now_, 1, UINT32_MAX);
  op_->shardClosed(now_, 1, UINT32_MAX);
  EXPECT_LE(op_->sample().cutLate, 1);
}

TEST_F(OpStopTest, ASenderThatLostItsLastSlotIsAskedAndAnswers) {
  start();
  contributions(1, kSlots);
  contributions(2, kSlots);
  contributions(3, kSlots - 1);
  passTo(80);  // the usual time and a retry
  bool asked = false;
  for (const auto& [peer, record] : host_.all) {
    if (record.stage == Stage::kScatter) {
      EXPECT_EQ(peer, 3);
      EXPECT_EQ(record.slots, 0u);
      asked = true;
    }
  }
  EXPECT_TRUE(asked);
  op_->noMore(now_, 3, Stage::kScatter);
  expectEnd(83);
  EXPECT_EQ(op_->sample().cutLate, 0);
}

TEST_F(OpStopTest, AnAbsentRankIsWaitedForWithoutABudget) {
  OpBounds bounds = usual();
  bounds.absentMost = .2;
  start(bounds);
  contributions(1, kSlots);
  contributions(2, kSlots);
  passTo(1000);
  EXPECT_FALSE(closed());
  // Once it has entered, its data has as long as that of others.
  op_->announced(now_, 3, op_->shape());
  expectEnd(1090);
}

TEST_F(OpStopTest, LostDataIsNotWaitedFor) {
  start();
  contributions(1, kSlots);
  contributions(2, kSlots);
  passTo(20);
  contribution(3, 0, false);
  contribution(3, 1, false);
  contribution(3, 3, true);
  expectEnd(23);  // Requests::kLossAfter
  EXPECT_EQ(op_->sample().cutLate, 0);
  EXPECT_FALSE(op_->sample().senders[3].cut);
}

// The usual time is 60 ms, and the end 90 ms. What is missing takes its part of
// the usual time, if it comes as fast as usual from now on.
TEST_F(OpStopTest, ResultsGoFirstIfTheShardWillBeLate) {
  start();
  passTo(14);
  contributions(1, 1);
  EXPECT_FALSE(op_->wantsResults());  // 1 of 8: 14 + 52 ms, not over 75
  passTo(40);
  contributions(2, 1);
  // 2 of 8 slots of the ranks that have entered: 40 + 45 ms.
  EXPECT_TRUE(op_->wantsResults());
  op_->shardClosed(now_, 1, 0);
  op_->shardClosed(now_, 2, 0);
  EXPECT_TRUE(op_->wantsResults());
  for (uint32_t slot = 1; slot < kSlots; slot++) {
    contribution(1, slot, slot >= kSlots - 2);
  }
  EXPECT_FALSE(op_->wantsResults());  // 5 of 8: 40 + 22 ms
  contributions(3, 1);
  EXPECT_FALSE(op_->wantsResults());  // 6 of 12: 40 + 30 ms
}

TEST_F(OpStopTest, WithoutABudgetNothingIsCut) {
  OpBounds bounds = usual();
  bounds.cuts = false;
  start(bounds);
  contributions(1, kSlots);
  contributions(2, kSlots);
  contributions(3, 1);
  passTo(5000);
  EXPECT_FALSE(closed());
}

TEST_F(OpStopTest, ABoundByHandReplacesTheRules) {
  OpBounds bounds = usual();
  bounds.rule = OpBounds::Rule::kByHand;
  bounds.scatter = milliseconds(30);
  start(bounds);
  contributions(1, 1);
  contributions(2, 1);
  expectEnd(30);
}

}  // namespace
}  // namespace ubt
