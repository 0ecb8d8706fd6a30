// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/late_entries.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::milliseconds;

constexpr Duration kWait = milliseconds(10);

class LateEntriesTest : public ::testing::Test {
 protected:
  void add(int ms, size_t ops = 1) {
    for (size_t i = 0; i < ops; i++) {
      late_.add(milliseconds(ms));
    }
  }

  LateEntries late_;
};

TEST_F(LateEntriesTest, CutsDoNotPayWhileNoRankWasLate) {
  EXPECT_FALSE(late_.cutsPay(kWait));
  add(-5, 20);
  add(10, 20);
  EXPECT_FALSE(late_.cutsPay(kWait));
}

TEST_F(LateEntriesTest, OneLongDelayMayBeChance) {
  add(20);
  EXPECT_FALSE(late_.cutsPay(kWait));
  add(20);
  EXPECT_TRUE(late_.cutsPay(kWait));
  EXPECT_FALSE(late_.cutsPay(kWait + milliseconds(1)));
}

TEST_F(LateEntriesTest, RanksThatComeSoonAreWaitedFor) {
  add(15, 11);
  add(100, 10 + LateEntries::kCameSoon);
  EXPECT_FALSE(late_.cutsPay(kWait));
  add(100);
  EXPECT_TRUE(late_.cutsPay(kWait));
  EXPECT_TRUE(late_.cutsPay(milliseconds(15)));  // only longer delays count
}

TEST_F(LateEntriesTest, ForgetsOldOps) {
  add(100, 50);
  add(15, LateEntries::kRecent);
  EXPECT_FALSE(late_.cutsPay(kWait));
  add(0, LateEntries::kRecent);  // nobody was late: not counted
  add(100, (LateEntries::kRecent + LateEntries::kCameSoon) / 2);
  EXPECT_TRUE(late_.cutsPay(kWait));
}

}  // namespace
}  // namespace ubt
