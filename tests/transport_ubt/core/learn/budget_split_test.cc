// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/budget_split.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

constexpr double kBudget = 0.02;

TEST(BudgetSplit, EachMayUseWhatTheOtherLeaves) {
  BudgetSplit split;
  EXPECT_EQ(split.forFirst(kBudget), kBudget);
  EXPECT_EQ(split.forSecond(kBudget), kBudget);
  for (int op = 0; op < 1000; op++) {
    split.add(kBudget / 4, kBudget);
  }
  EXPECT_NEAR(split.forFirst(kBudget), kBudget / 2, 1e-6);
  EXPECT_NEAR(split.forSecond(kBudget), kBudget * 3 / 4, 1e-6);
}

// Two users that cut all that they may do not cut more than the budget.
TEST(BudgetSplit, BothTogetherKeepTheBudgetFromTheFirstOpOn) {
  BudgetSplit split(true, kBudget / 2);
  double cut = 0;
  for (int op = 0; op < 100; op++) {
    const double first = split.forFirst(kBudget);
    const double second = split.forSecond(kBudget);
    split.add(first, second);
    cut += first + second;
  }
  EXPECT_DOUBLE_EQ(cut, 100 * kBudget);
}

TEST(BudgetSplit, WithoutTheLoopEachHasHalf) {
  BudgetSplit split(false);
  split.add(0, kBudget);
  EXPECT_EQ(split.forFirst(kBudget), kBudget / 2);
  EXPECT_EQ(split.forSecond(kBudget), kBudget / 2);
}

}  // namespace
}  // namespace ubt
