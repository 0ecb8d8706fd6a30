// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/absence_budget.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::milliseconds;

constexpr Duration kMargin = milliseconds(4);

TEST(AbsenceBudget, CoversWhatItHolds) {
  AbsenceBudget budget;
  EXPECT_LT(budget.most(kMargin), .125);
  budget.earn(.025);
  EXPECT_GE(budget.most(kMargin), .125);
  budget.spend(.125);
  EXPECT_LT(budget.most(kMargin), .01);
}

TEST(AbsenceBudget, HoldsHalfOfAnOpAtMost) {
  AbsenceBudget budget;
  for (int i = 0; i < 1000; i++) {
    budget.earn(.025);
  }
  EXPECT_EQ(budget.tokens(), .5);
  EXPECT_GE(budget.most(kMargin), .5);
  EXPECT_LT(budget.most(kMargin), .51);
}

TEST(AbsenceBudget, ARankThatHangsEmptiesIt) {
  AbsenceBudget budget;
  int cut = 0;
  for (int i = 0; i < 1000; i++) {
    budget.earn(.0125);
    if (budget.most(kMargin) >= .125) {
      budget.spend(.125);
      cut++;
    }
  }
  EXPECT_NEAR(100, cut, 1);  // one in ten
}

TEST(AbsenceBudget, DoesNotCutForAShortWait) {
  AbsenceBudget budget;
  budget.earn(.4);
  for (size_t i = 0; i < AbsenceBudget::kWaitsLeast - 1; i++) {
    budget.waited(milliseconds(1));
    EXPECT_GE(budget.most(kMargin), .125);
  }
  budget.waited(milliseconds(1));
  EXPECT_LT(budget.most(kMargin), .125);
  // Eight of 1 ms and one of 40 ms: 5.3 ms in the mean.
  budget.waited(milliseconds(40));
  EXPECT_GE(budget.most(kMargin), .125);
  for (size_t i = 0; i < AbsenceBudget::kWaits; i++) {
    budget.waited(milliseconds(3));
  }
  EXPECT_LT(budget.most(kMargin), .125);
}

}  // namespace
}  // namespace ubt
