// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/pacing/loss_response.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ubt {
namespace {

constexpr Duration kRound = std::chrono::milliseconds(2);

class LossResponseTest : public ::testing::Test {
 protected:
  double part() const { return response_.part(now_, kRound); }
  // This number of windows pass, one a round.
  void pass(int windows, double lostShare) {
    for (int i = 0; i < windows; i++) {
      now_ += kRound;
      response_.windowPassed(now_, kRound, lostShare);
    }
  }

  LossResponse response_;
  TimePoint now_{std::chrono::seconds(1)};
};

TEST_F(LossResponseTest, ALittleLossIsTolerated) {
  pass(100, 0.02);
  EXPECT_EQ(part(), 1);
}

TEST_F(LossResponseTest, ALossReducesThePartAndItComesBack) {
  pass(1, 0.1);
  EXPECT_NEAR(part(), 0.8, 1e-9);
  pass(LossResponse::kReturn / 2, 0);
  EXPECT_GT(part(), 0.95);
  pass(LossResponse::kReturn / 2 + 1, 0);
  EXPECT_EQ(part(), 1);
}

TEST_F(LossResponseTest, TwoLossesInOneRoundCountOnce) {
  response_.windowPassed(now_, kRound, 0.1);
  response_.windowPassed(now_ + kRound / 2, kRound, 0.1);
  EXPECT_NEAR(response_.part(now_, kRound), 0.8, 1e-9);
}

// A short queue: loss follows the window.
TEST_F(LossResponseTest, ItStaysNearTheWindowThatIsNotLost) {
  constexpr double kFits = 0.25;
  double sum = 0;
  int lossy = 0;
  for (int round = 0; round < 2000; round++) {
    now_ += kRound;
    const double share = std::max(0.0, 1 - kFits / part());
    lossy += share > LossResponse::kTolerated ? 1 : 0;
    response_.windowPassed(now_, kRound, share);
    sum += part();
  }
  EXPECT_GT(sum / 2000, 0.8 * kFits);
  EXPECT_LT(sum / 2000, 1.1 * kFits);
  EXPECT_LT(lossy, 200);
}

TEST_F(LossResponseTest, ItComesBackAfterABurst) {
  for (int round = 0; round < 100; round++) {
    pass(1, std::max(0.0, 1 - 0.1 / part()));
  }
  EXPECT_LT(part(), 0.15);
  pass(5 * LossResponse::kReturn, 0);
  EXPECT_EQ(part(), 1);
}

TEST_F(LossResponseTest, LossThatReductionsDoNotLessenIsTolerated) {
  pass(200, 0.05);
  EXPECT_EQ(part(), 1);
  pass(1, 0.2);
  EXPECT_NEAR(part(), 0.8, 1e-9) << "a new cause";
}

}  // namespace
}  // namespace ubt
