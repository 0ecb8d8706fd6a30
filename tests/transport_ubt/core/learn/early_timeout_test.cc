// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/early_timeout.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::milliseconds;

TEST(EarlyTimeout, KnowsNothingBeforeAnybodyHasMeasured) {
  EarlyTimeout early(4);
  EXPECT_EQ(early.patience(), Duration{0});
  early.returned();
  EXPECT_EQ(early.patience(), Duration{0});
}

TEST(EarlyTimeout, FollowsTheMedianOfAllRanks) {
  EarlyTimeout early(3);
  early.sample(0, milliseconds(10));
  early.sample(1, milliseconds(900));  // an outlier of one rank
  early.sample(2, milliseconds(20));
  early.returned();
  EXPECT_EQ(early.stage(), milliseconds(20));
  // The latest sample of each rank, with an inertia of .95: 19 + 2.
  early.sample(0, milliseconds(40));
  early.sample(2, milliseconds(40));
  early.returned();
  EXPECT_EQ(early.stage(), milliseconds(21));
}

TEST(EarlyTimeout, SettlesWhereAllMeasureTheSame) {
  EarlyTimeout early(2);
  early.sample(0, milliseconds(10));
  early.returned();
  for (int op = 0; op < 200; op++) {
    early.sample(0, milliseconds(50));
    early.sample(1, milliseconds(50));
    early.returned();
  }
  EXPECT_NEAR(early.stage() / milliseconds(1), 50, 1);
}

// Between the two limits the share does not change.
TEST(EarlyTimeout, GrowsMorePatientWhereItWasHastyAndLessElsewhere) {
  EarlyTimeout early(2);
  EXPECT_DOUBLE_EQ(early.share(), 0.10);
  early.done(0.002);
  EXPECT_DOUBLE_EQ(early.share(), 0.20);
  early.done(0.0005);
  EXPECT_DOUBLE_EQ(early.share(), 0.20);
  early.done(0.00005);
  EXPECT_DOUBLE_EQ(early.share(), 0.19);
  for (int op = 0; op < 5; op++) {
    early.done(1);
  }
  EXPECT_DOUBLE_EQ(early.share(), 0.50);
  for (int op = 0; op < 100; op++) {
    early.done(0);
  }
  EXPECT_DOUBLE_EQ(early.share(), 0.01);
}

TEST(EarlyTimeout, AShareSetByHandStays) {
  EarlyTimeout early(1, 0.25);
  early.done(1);
  early.done(0);
  EXPECT_DOUBLE_EQ(early.share(), 0.25);
  early.sample(0, milliseconds(60));
  early.returned();
  EXPECT_EQ(early.patience(), milliseconds(15));
}

TEST(EarlyTimeout, PatienceIsTheShareOfTheStage) {
  EarlyTimeout early(1);
  early.sample(0, milliseconds(60));
  early.returned();
  EXPECT_EQ(early.patience(), milliseconds(6));
}

}  // namespace
}  // namespace ubt
