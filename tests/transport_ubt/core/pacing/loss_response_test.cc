// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/pacing/loss_response.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ubt {
namespace {

constexpr Duration kRound = std::chrono::milliseconds(10);
constexpr Duration kReturnMin = std::chrono::milliseconds(20);
constexpr double kTolerated = 0.02;
constexpr double kWhole = 1000000;  // bytes of the whole window
constexpr double kPerTrain = 1000;  // bytes

using Verdict = LossResponse::Verdict;

class LossResponseTest : public ::testing::Test {
 protected:
  double part() const { return response_.part(); }
  static LossResponse::Window windowOf(double came,
                                       double lost,
                                       Duration took) {
    return {static_cast<uint64_t>(came),
            static_cast<uint64_t>(lost),
            lost / kPerTrain,
            took};
  }
  void pass(const LossResponse::Window& window) {
    switch (response_.judge(window)) {
      case Verdict::kClean:
        return response_.passed(window);
      case Verdict::kUnclear:
        return response_.stay(window);
      case Verdict::kLossy:
        return response_.reduce(window);
    }
  }
  // This number of windows pass, each in `took`. `lostShare` of each gets lost
  // whatever its size.
  void pass(int windows, double lostShare, Duration took = kRound) {
    for (int i = 0; i < windows; i++) {
      const double bytes = kWhole * part();
      const double lost = bytes * lostShare;
      pass(windowOf(bytes - lost, lost, took));
    }
  }
  // A window passes on a path that delivers the part `fits` of the whole window
  // in kRound, and loses the rest. False: the part shrinks.
  bool passThrough(double fits) {
    const double bytes = kWhole * part();
    const double lost = std::max(0.0, bytes - kWhole * fits);
    const double before = part();
    pass(windowOf(bytes - lost, lost, kRound));
    return part() >= before;
  }

  LossResponse response_{kReturnMin, kTolerated};
};

TEST_F(LossResponseTest, ALittleLossIsTolerated) {
  pass(100, 0.02);
  EXPECT_EQ(part(), 1);
}

// Of ten trains, one is lost: that may be chance. Three are not.
TEST_F(LossResponseTest, OneLossSaysNothing) {
  EXPECT_EQ(response_.judge({900, 100, 1, kRound}), Verdict::kUnclear);
  EXPECT_EQ(response_.judge({700, 300, 3, kRound}), Verdict::kLossy);
}

// 20 losses are expected of 1000 trains, with a standard deviation of 4.5.
TEST_F(LossResponseTest, LossesThatMayBeChanceAreTolerated) {
  EXPECT_EQ(response_.judge({972000, 28000, 28, kRound}), Verdict::kUnclear);
  EXPECT_EQ(response_.judge({970000, 30000, 30, kRound}), Verdict::kLossy);
}

TEST_F(LossResponseTest, ALossReducesThePartAndItComesBack) {
  pass(1, 0.1);
  EXPECT_NEAR(part(), 0.8, 1e-9);
  pass(LossResponse::kReturn / 2, 0);
  EXPECT_GT(part(), 0.95);
  pass(LossResponse::kReturn / 2 + 1, 0);
  EXPECT_EQ(part(), 1);
}

TEST_F(LossResponseTest, AGreatLossReducesItByAsMuch) {
  pass(1, 0.6);
  EXPECT_NEAR(part(), 0.4, 1e-3);
}

// On a fast link windows pass in no time, and each return costs loss.
TEST_F(LossResponseTest, TheReturnTakesTime) {
  pass(1, 0.1);
  const auto took = kReturnMin / 40;
  pass(39, 0, took);
  EXPECT_LT(part(), 1);
  pass(2, 0, took);
  EXPECT_EQ(part(), 1);
}

// A short queue: loss follows the window.
TEST_F(LossResponseTest, ItStaysNearTheWindowThatIsNotLost) {
  constexpr double kFits = 0.25;
  double sum = 0;
  int lossy = 0;
  for (int window = 0; window < 2000; window++) {
    lossy += passThrough(kFits) ? 0 : 1;
    sum += part();
  }
  EXPECT_GT(sum / 2000, 0.8 * kFits);
  EXPECT_LT(sum / 2000, 1.1 * kFits);
  EXPECT_LT(lossy, 500);
}

TEST_F(LossResponseTest, ItComesBackAfterABurst) {
  for (int window = 0; window < 100; window++) {
    passThrough(0.1);
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

// The reductions start from an outage, which no window explains.
TEST_F(LossResponseTest, LossThatBeginsWithAnOutageIsTolerated) {
  for (const double outage : {0.95, 0.98, 1.0}) {
    response_ = LossResponse(kReturnMin, kTolerated);
    pass(1, outage);
    pass(400, 0.05);
    EXPECT_EQ(part(), 1) << outage;
  }
}

TEST_F(LossResponseTest, AnOutageIsNotTolerated) {
  pass(400, 1);
  EXPECT_EQ(part(), LossResponse::kPartMin);
}

}  // namespace
}  // namespace ubt
