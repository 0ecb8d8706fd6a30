// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/cut_factor.h"

#include <gtest/gtest.h>

#include <random>

namespace ubt {
namespace {

TEST(CutFactor, GrowsByTheExcessAndShrinksByTheRest) {
  CutFactor factor;
  EXPECT_EQ(factor.value(), 1.5);
  factor.returned(.05, .025);  // twice the target
  const double grown = 1.5 * std::exp(1.0 / 21);
  EXPECT_DOUBLE_EQ(factor.value(), grown);
  factor.returned(.025, .025);
  EXPECT_DOUBLE_EQ(factor.value(), grown);
  factor.returned(0, .025);
  EXPECT_DOUBLE_EQ(factor.value(), grown * std::exp(-1.0 / 23));
}

TEST(CutFactor, ItsGainFallsInTheFirst180Ops) {
  CutFactor factor;
  for (int i = 0; i < 179; i++) {
    factor.returned(.025, .025);
  }
  factor.returned(.05, .025);
  EXPECT_DOUBLE_EQ(factor.value(), 1.5 * std::exp(.005));
  factor.returned(.05, .025);
  EXPECT_DOUBLE_EQ(factor.value(), 1.5 * std::exp(.01));
}

TEST(CutFactor, StaysWithinItsLimits) {
  CutFactor factor;
  for (int i = 0; i < 1000; i++) {
    factor.returned(0, .025);
  }
  EXPECT_EQ(factor.value(), CutFactor::kMin);
  for (int i = 0; i < 1000; i++) {
    factor.returned(1, .025);
  }
  EXPECT_EQ(factor.value(), CutFactor::kMax);
}

// Delays whose share beyond x times the usual time is 1 / x^2.
TEST(CutFactor, CutsItsTargetInTheLongRun) {
  for (const double target : {.01, .025, .05}) {
    for (const uint64_t seed : {1, 2, 3}) {
      std::mt19937_64 random(seed);
      std::uniform_real_distribution<double> uniform;
      CutFactor factor;
      double cut = 0;
      constexpr int kOps = 20000;
      for (int i = 0; i < kOps; i++) {
        const double delay = 1 / std::sqrt(1 - uniform(random));
        const double share = delay > factor.value() ? 1 : 0;
        factor.returned(share, target);
        cut += share;
      }
      EXPECT_NEAR(cut / kOps, target, .1 * target) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace ubt
