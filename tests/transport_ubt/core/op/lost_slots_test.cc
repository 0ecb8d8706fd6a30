// SPDX-License-Identifier: Apache-2.0
//
// Slots that the network lost: who repeats them, and who goes on without them.

#include <cstdint>

#include "tests/transport_ubt/core/one_op.h"

namespace ubt {
namespace {

// Rank 0 of three owns four slots. All have entered.
class LostSlots : public OneOp {
 protected:
  static constexpr uint32_t kSlots = 4;

  void begin(RepairPolicy repair, const OpBounds& bounds = farAway()) {
    options_.repair = repair;
    OneOp::begin(3, kSlots, bounds);
    for (const int rank : {1, 2}) {
      op_->announced(now_, rank, op_->shape());
    }
    enter();
  }
  void contributions(int rank, uint32_t first, uint32_t end) {
    for (uint32_t slot = first; slot < end; slot++) {
      contribution(rank, slot, false);
    }
  }
  // Rank 2 says so. Then they would have come by now.
  void lost(Stage stage, uint32_t first, uint32_t slots) {
    op_->lostHere(now_, 2, stage, first, slots);
    pass(Requests::kLossAfterTrip);
  }
  void results(int owner, uint32_t first, uint32_t end) {
    for (uint32_t slot = first; slot < end; slot++) {
      result(owner, slot);
    }
  }
};

// A peer knows only packet numbers.
TEST_F(LostSlots, ArePassedOnIfNobodyRepeatsThem) {
  for (const RepairPolicy repair :
       {RepairPolicy::kNone, RepairPolicy::kBroadcast, RepairPolicy::kBoth}) {
    host_.lost.clear();
    begin(repair);
    op_->lostByPeer(now_, 1, Stage::kScatter, 1, 2);
    if (repair == RepairPolicy::kBoth) {
      EXPECT_TRUE(host_.lost.empty());
      continue;
    }
    ASSERT_EQ(host_.lost.size(), 1u);
    EXPECT_EQ(host_.lost[0].first, 1);
    EXPECT_EQ(host_.lost[0].second.stage, Stage::kScatter);
    EXPECT_EQ(host_.lost[0].second.slot, 1u);
    EXPECT_EQ(host_.lost[0].second.slots, 2u);
    op_->lostByPeer(now_, 1, Stage::kBroadcast, 0, 1);
    EXPECT_EQ(host_.lost.size(), repair == RepairPolicy::kNone ? 2u : 1u);
  }
}

// Although no slot with a mark has come.
TEST_F(LostSlots, OfContributionsAreNotWaitedFor) {
  begin(RepairPolicy::kBroadcast);
  contributions(1, 0, kSlots);
  contributions(2, 0, 1);
  EXPECT_FALSE(op_->hasResults());
  lost(Stage::kScatter, 1, kSlots - 1);
  EXPECT_TRUE(op_->hasResults());
}

TEST_F(LostSlots, AreMissing) {
  begin(RepairPolicy::kBroadcast);
  contributions(1, 0, kSlots);
  now_ += std::chrono::milliseconds(20);
  lost(Stage::kScatter, 0, kSlots);
  EXPECT_TRUE(op_->hasResults());
  // Nothing of rank 2 came, but that took some time.
  EXPECT_EQ(op_->sample().senders[2].took,
            std::chrono::milliseconds(20) + Requests::kLossAfterTrip);
  op_->giveUp("over");
  const OpReport report = op_->leave(now_);
  EXPECT_TRUE(report.scatterExpired);
  EXPECT_EQ(report.scatter[2].lost, report.scatter[2].expected);
}

TEST_F(LostSlots, DoNotEndBoundsByHand) {
  OpBounds bounds = farAway();
  bounds.rule = OpBounds::Rule::kByHand;
  bounds.scatter = std::chrono::seconds(1);
  begin(RepairPolicy::kBroadcast, bounds);
  contributions(1, 0, kSlots);
  lost(Stage::kScatter, 0, kSlots);
  EXPECT_FALSE(op_->hasResults());
}

// The owner may still have to send zeros.
TEST_F(LostSlots, AreWaitedForIfAMajorityMayBecomeZero) {
  options_.zeroLoss = 0.3;
  begin(RepairPolicy::kBroadcast);
  contributions(1, 0, kSlots);
  contributions(2, 0, 1);
  lost(Stage::kScatter, 1, kSlots - 1);
  EXPECT_FALSE(op_->hasResults());
  op_->noMore(now_, 2, Stage::kScatter);
  pass(Requests::kLossAfter);
  EXPECT_TRUE(op_->hasResults());
}

// The result of the slot leaves while other contributions still come.
TEST_F(LostSlots, CloseTheirSlotAtOnce) {
  begin(RepairPolicy::kBroadcast);
  contributions(1, 0, 2);
  contributions(2, 0, 1);
  DataSend send;
  const auto sendsSlot = [&] {  // after the own contributions
    while (op_->outbox().hasData(1) && op_->outbox().next(1, true, &send)) {
      if (send.stage == Stage::kBroadcast) {
        return true;
      }
    }
    return false;
  };
  ASSERT_TRUE(sendsSlot());
  EXPECT_EQ(send.slot, 0u);
  EXPECT_FALSE(sendsSlot());
  lost(Stage::kScatter, 1, 1);
  ASSERT_TRUE(sendsSlot());
  EXPECT_EQ(send.slot, 1u);
  EXPECT_EQ(send.contributors, 2);
}

TEST_F(LostSlots, OfResultsAreNotWaitedForWithoutRepair) {
  for (const RepairPolicy repair :
       {RepairPolicy::kNone, RepairPolicy::kBroadcast}) {
    begin(repair);
    for (const int rank : {1, 2}) {
      contributions(rank, 0, kSlots);
    }
    results(1, 0, kSlots);
    results(2, 0, kSlots - 1);
    lost(Stage::kBroadcast, kSlots - 1, 1);
    EXPECT_EQ(op_->finished(), repair == RepairPolicy::kNone);
  }
}

// It was only overtaken.
TEST_F(LostSlots, AreWaitedForAWhile) {
  begin(RepairPolicy::kBroadcast);
  contributions(1, 0, kSlots);
  contributions(2, 0, kSlots - 1);
  op_->lostHere(now_, 2, Stage::kScatter, kSlots - 1, 1);
  pass(Requests::kLossAfterTrip - Duration{1});
  EXPECT_FALSE(op_->hasResults());
  contributions(2, kSlots - 1, kSlots);
  EXPECT_TRUE(op_->hasResults());
}

// Even if that took longer. Their slots are open, because rank 1's
// contributions are missing.
TEST_F(LostSlots, ThatComeAfterAllCount) {
  begin(RepairPolicy::kBroadcast);
  contributions(1, 0, 1);
  contributions(2, 2, kSlots);
  lost(Stage::kScatter, 1, 1);
  contributions(2, 0, 2);
  contributions(1, 1, kSlots);
  EXPECT_TRUE(op_->hasResults());
  op_->giveUp("over");
  const OpReport report = op_->leave(now_);
  EXPECT_EQ(report.scatter[2].lost, 0u);
  EXPECT_EQ(report.scatter[2].received, report.scatter[2].expected);
}

// Its slot had closed, while others had not.
TEST_F(LostSlots, ThatComeAfterTheirSlotClosedAreLate) {
  begin(RepairPolicy::kBroadcast);
  contributions(1, 0, 2);
  contributions(2, 0, 1);
  lost(Stage::kScatter, 1, 1);
  contribution(2, 1, false, Counter::kLateData);
  EXPECT_TRUE(host_.closed.empty());  // the others still have to come
  contributions(1, 2, kSlots);
  contributions(2, 2, kSlots);
  EXPECT_TRUE(op_->hasResults());
  op_->giveUp("over");
  const OpReport report = op_->leave(now_);
  EXPECT_EQ(report.scatter[2].late, kSlotBytes);
  EXPECT_EQ(report.scatter[2].lost, 0u);
  EXPECT_EQ(report.scatter[2].sum(), report.scatter[2].expected);
}

// As any number on the wire may be.
TEST_F(LostSlots, BeyondTheShardChangeNothing) {
  begin(RepairPolicy::kBroadcast);
  contributions(1, 0, kSlots);
  contributions(2, 0, kSlots - 1);
  lost(Stage::kScatter, kSlots, UINT32_MAX);
  lost(Stage::kScatter, UINT32_MAX, 2);
  lost(Stage::kScatter, 0, 1);  // it is here
  EXPECT_FALSE(op_->hasResults());
  lost(Stage::kScatter, 0, UINT32_MAX);
  EXPECT_TRUE(op_->hasResults());
}

}  // namespace
}  // namespace ubt
