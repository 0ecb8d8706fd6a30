// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/least_wait.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::milliseconds;

constexpr Duration kMargin = milliseconds(10);

class LeastWaitTest : public ::testing::Test {
 protected:
  void add(int ms, int ops = 1) {
    for (int i = 0; i < ops; i++) {
      wait_.add(milliseconds(ms));
    }
  }

  LeastWait wait_;
};

TEST_F(LeastWaitTest, IsTheMarginWhileNothingIsLate) {
  EXPECT_EQ(wait_.get(kMargin), kMargin);
  add(-5, 20);
  add(10, 20);
  EXPECT_EQ(wait_.get(kMargin), kMargin);
}

TEST_F(LeastWaitTest, IsTheMarginIfLateOpsTakeAMarginLonger) {
  add(20, 3);
  add(12, 2);
  EXPECT_EQ(wait_.get(kMargin), kMargin);
  EXPECT_EQ(wait_.get(Duration{0}), Duration{0});
}

TEST_F(LeastWaitTest, CoversJitter) {
  add(12, 50);
  add(14, 50);
  EXPECT_EQ(wait_.get(kMargin), milliseconds(14) + kMargin);
}

// Long delays among jitter are cut, behind the jitter.
TEST_F(LeastWaitTest, TellsLongDelaysFromJitter) {
  add(12, 50);
  add(14, 50);
  add(100, 2);
  EXPECT_EQ(wait_.get(kMargin), milliseconds(14));
}

TEST_F(LeastWaitTest, ForgetsOldOps) {
  add(14, 5);
  EXPECT_EQ(wait_.get(kMargin), milliseconds(14) + kMargin);
  add(0, LeastWait::kRecent);
  EXPECT_EQ(wait_.get(kMargin), kMargin);
}

}  // namespace
}  // namespace ubt
