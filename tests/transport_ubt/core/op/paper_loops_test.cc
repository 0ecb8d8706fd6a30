// SPDX-License-Identifier: Apache-2.0
//
// When stages end by the paper's loops (PaperStop).

#include <gtest/gtest.h>

#include "tests/transport_ubt/core/one_op.h"
#include "transport_ubt/core/op/stage_progress.h"

namespace ubt {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint32_t kSlots = 4;

// Four ranks that repair nothing. Contributions have 50 ms, results 80 ms;
// after all marks, 4 ms and 6 ms.
class PaperLoopsTest : public OneOp {
 protected:
  void start() {
    options_.loops = Loops::kPaper;
    options_.repair = RepairPolicy::kNone;
    OpBounds bounds;
    bounds.limit = seconds(100);
    bounds.rule = OpBounds::Rule::kPaper;
    bounds.paperScatter = {milliseconds(50), milliseconds(4)};
    bounds.paperResults = {milliseconds(80), milliseconds(6)};
    begin(4, kSlots, bounds);
    enter();
    for (const int rank : {1, 2}) {
      op_->announced(now_, rank, op_->shape());
    }
    startedAt_ = now_;
  }
  // The contributions of a rank, except the first `lost` slots.
  void contributions(int rank, uint32_t lost = 0) {
    for (uint32_t slot = lost; slot < kSlots; slot++) {
      contribution(rank, slot, slot >= StageProgress::firstMarked(kSlots));
    }
  }
  void results(int owner, uint32_t lost = 0) {
    for (uint32_t slot = lost; slot < kSlots; slot++) {
      result(owner, slot, slot >= StageProgress::firstMarked(kSlots));
    }
  }
  void passTo(int ms) { pass(startedAt_ + milliseconds(ms) - now_); }

  TimePoint startedAt_{};
};

TEST_F(PaperLoopsTest, AStageWithAllDataEndsAtOnce) {
  start();
  passTo(20);
  for (const int rank : {1, 2, 3}) {
    contributions(rank);
  }
  EXPECT_TRUE(op_->hasResults());
  const OpSample::End end = op_->sample().scatterEnd;
  EXPECT_EQ(end.took, milliseconds(20));
  EXPECT_EQ(end.came, 3 * kSlots);
  EXPECT_EQ(end.missing, 0u);
  EXPECT_FALSE(end.expired());
}

TEST_F(PaperLoopsTest, TheBoundEndsAStageForAbsentRanksToo) {
  start();
  contributions(1);
  contributions(2, 3);
  passTo(49);
  EXPECT_FALSE(op_->hasResults());
  passTo(50);
  EXPECT_TRUE(op_->hasResults());
  const OpSample sample = op_->sample();
  EXPECT_TRUE(sample.scatterEnd.expired());
  EXPECT_EQ(sample.scatterEnd.missing, 3 + kSlots);
  EXPECT_TRUE(sample.expired());
  EXPECT_DOUBLE_EQ(sample.missing(), 7.0 / 12);
  EXPECT_TRUE(host_.all.empty());  // nobody was asked
}

TEST_F(PaperLoopsTest, AfterAllMarksAStageEndsEarly) {
  start();
  passTo(10);
  contributions(1);
  contributions(2, 1);
  passTo(12);
  contributions(3, 2);
  passTo(15);
  EXPECT_FALSE(op_->hasResults());
  passTo(16);
  EXPECT_TRUE(op_->hasResults());
  EXPECT_FALSE(op_->sample().expired());
  EXPECT_EQ(op_->sample().scatterEnd.took, milliseconds(16));
}

TEST_F(PaperLoopsTest, MarksAreTheSendersAndNotTheLastSlot) {
  start();
  for (const int rank : {1, 2, 3}) {
    contribution(rank, kSlots - 1, false);
  }
  passTo(49);
  EXPECT_FALSE(op_->hasResults());
}

TEST_F(PaperLoopsTest, ResultsEndTheSameWay) {
  start();
  for (const int rank : {1, 2, 3}) {
    contributions(rank);
  }
  results(1);
  results(2);
  passTo(79);
  EXPECT_FALSE(op_->finished());
  passTo(80);
  EXPECT_TRUE(op_->finished());
  op_->leave(now_);
  const OpSample sample = op_->sample();
  EXPECT_TRUE(sample.resultsEnd.expired());
  EXPECT_EQ(sample.resultsEnd.took, milliseconds(80));
  EXPECT_EQ(sample.resultsEnd.missing, kSlots);
}

TEST_F(PaperLoopsTest, ResultsEndEarlyAfterAllMarks) {
  start();
  for (const int rank : {1, 2, 3}) {
    contributions(rank);
  }
  passTo(30);
  results(1);
  results(2, 1);
  results(3, 2);
  passTo(35);
  EXPECT_FALSE(op_->finished());
  passTo(36);
  EXPECT_TRUE(op_->finished());
  EXPECT_FALSE(op_->sample().expired());
}

TEST_F(PaperLoopsTest, LastContributionsCarryMarks) {
  for (const Loops loops : {Loops::kMeasured, Loops::kPaper}) {
    options_.loops = loops;
    begin(2, 300, farAway());
    enter();
    DataSend send;
    for (uint32_t slot = 0; slot < 300; slot++) {
      ASSERT_TRUE(op_->outbox().next(1, false, &send));
      ASSERT_EQ(send.slot, slot);
      EXPECT_EQ(send.lastPercentile, loops == Loops::kPaper && slot >= 297);
    }
  }
}

}  // namespace
}  // namespace ubt
