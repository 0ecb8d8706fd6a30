// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/pacing/incast.h"

#include <gtest/gtest.h>

#include <vector>

namespace ubt {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kRanks = 5;
constexpr Duration kPatience = milliseconds(2);

// Rank 2 of five. Each sender owes 100 slots and has used up its credit.
class IncastTest : public ::testing::Test {
 protected:
  IncastTest() {
    for (Incast::Sender& sender : senders_) {
      sender.owed = 100;
      sender.waits = true;
      sender.patience = kPatience;
    }
    senders_[2] = {};
  }
  // The turns that begin and end now, in order.
  std::vector<int> turn() {
    std::vector<int> changed;
    incast_.turn(
        now_,
        [this](int rank) { return senders_[rank]; },
        [&](int rank) { changed.push_back(rank); });
    return changed;
  }
  // The sender has sent this many slots since.
  void sends(int rank, uint64_t slots) {
    senders_[rank].next += slots;
    senders_[rank].owed -= slots;
  }
  void allow(int senders) {
    while (incast_.senders() < senders) {
      incast_.returned(0, false);
    }
  }

  TimePoint now_{seconds(1)};
  std::vector<Incast::Sender> senders_{kRanks};
  Incast incast_{2, kRanks};
};

TEST_F(IncastTest, RisesByOneWithoutLoss) {
  EXPECT_EQ(incast_.senders(), 1);
  incast_.returned(0, false);
  EXPECT_EQ(incast_.senders(), 2);
  incast_.returned(0.0005, false);  // some loss
  EXPECT_EQ(incast_.senders(), 2);
  for (int op = 0; op < 9; op++) {
    incast_.returned(0, false);
  }
  EXPECT_EQ(incast_.senders(), 4);  // all others
  EXPECT_FALSE(incast_.limits());
}

TEST_F(IncastTest, HalvesAfterLossOrAnExpiry) {
  allow(4);
  incast_.returned(0.002, false);
  EXPECT_EQ(incast_.senders(), 2);
  incast_.returned(0, true);
  EXPECT_EQ(incast_.senders(), 1);
  incast_.returned(1, true);
  EXPECT_EQ(incast_.senders(), 1);
}

TEST_F(IncastTest, TheSmallestThatAnyRankAdvertisesCounts) {
  allow(3);
  incast_.heard(1, 2);
  incast_.heard(4, 4);
  EXPECT_EQ(incast_.senders(), 2);
  EXPECT_EQ(incast_.own(), 3);
  incast_.heard(1, 0);  // it advertises none
  EXPECT_EQ(incast_.senders(), 3);
}

// The second half of a turn is on its way then.
TEST_F(IncastTest, SendersTakeTurns) {
  EXPECT_EQ(turn(), (std::vector<int>{1}));  // it serves this rank first
  EXPECT_TRUE(incast_.admits(1));
  EXPECT_FALSE(incast_.admits(0));
  EXPECT_EQ(incast_.left(1, 0), 100u);
  sends(1, 40);
  EXPECT_TRUE(turn().empty());
  EXPECT_EQ(incast_.left(1, 40), 60u);
  sends(1, 10);
  senders_[1].waits = false;  // it has credit
  EXPECT_EQ(turn(), (std::vector<int>{1, 0}));
  EXPECT_EQ(incast_.left(1, 50), 0u);
  sends(0, 100);
  EXPECT_EQ(turn(), (std::vector<int>{0, 4}));
  sends(4, 100);
  EXPECT_EQ(turn(), (std::vector<int>{4, 3}));
}

TEST_F(IncastTest, SeveralHaveTheirTurnAtATime) {
  allow(2);
  EXPECT_EQ(turn(), (std::vector<int>{1, 0}));
  sends(0, 100);
  EXPECT_EQ(turn(), (std::vector<int>{0, 4}));
  EXPECT_TRUE(incast_.admits(1));
}

// It has a slot of credit, and would have used it.
TEST_F(IncastTest, ASenderWithoutDataIsPassedOver) {
  senders_[1].waits = false;
  EXPECT_EQ(turn(), (std::vector<int>{0}));
}

TEST_F(IncastTest, AnIdleSenderLosesItsTurn) {
  turn();
  EXPECT_EQ(incast_.dueAt(), now_ + kPatience);
  now_ += milliseconds(1);
  sends(1, 1);
  turn();
  EXPECT_EQ(incast_.dueAt(), now_ + kPatience);
  now_ += kPatience;
  EXPECT_EQ(turn(), (std::vector<int>{1, 0}));
}

TEST_F(IncastTest, WithNobodyInLineNothingIsDue) {
  for (Incast::Sender& sender : senders_) {
    sender.owed = 0;
  }
  EXPECT_TRUE(turn().empty());
  EXPECT_EQ(incast_.dueAt(), kNever);
}

TEST_F(IncastTest, ANewOpBeginsWithTheSenderThatServesThisRankFirst) {
  turn();
  sends(1, 100);
  turn();
  sends(0, 100);
  incast_.restart();
  senders_[1].owed = 100;
  EXPECT_EQ(turn(), (std::vector<int>{0, 1}));
}

TEST_F(IncastTest, AnOpenLimitAdmitsAll) {
  allow(4);
  EXPECT_TRUE(turn().empty());
  EXPECT_TRUE(incast_.admits(0));
  EXPECT_EQ(incast_.dueAt(), kNever);
}

}  // namespace
}  // namespace ubt
