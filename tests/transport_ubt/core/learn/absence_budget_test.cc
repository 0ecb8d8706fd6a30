// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/absence_budget.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

TEST(AbsenceBudget, CoversWhatItHolds) {
  AbsenceBudget budget;
  EXPECT_LT(budget.tokens(), .125);
  budget.earn(.025);
  EXPECT_GE(budget.tokens(), .125);
  budget.spend(.125);
  EXPECT_LT(budget.tokens(), .01);
}

TEST(AbsenceBudget, HoldsHalfOfAnOpAtMost) {
  AbsenceBudget budget;
  for (int i = 0; i < 1000; i++) {
    budget.earn(.025);
  }
  EXPECT_EQ(budget.tokens(), .5);
}

TEST(AbsenceBudget, ARankThatHangsEmptiesIt) {
  AbsenceBudget budget;
  int cut = 0;
  for (int i = 0; i < 1000; i++) {
    budget.earn(.0125);
    if (budget.tokens() >= .125) {
      budget.spend(.125);
      cut++;
    }
  }
  EXPECT_NEAR(100, cut, 1);  // one in ten
}

}  // namespace
}  // namespace ubt
