// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/pacing/train_length.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::seconds;

constexpr TimePoint kNow{seconds(100)};

TEST(TrainLength, IsTheGreatestOnAnUnknownLink) {
  EXPECT_EQ(TrainLength().bytes(kNow, 0), TrainLength::kBytesMax);
}

TEST(TrainLength, FollowsTheRateWithinItsLimits) {
  const TrainLength trains;
  EXPECT_EQ(trains.bytes(kNow, 31.25e6), 31250u);
  EXPECT_EQ(trains.bytes(kNow, 1e6), TrainLength::kBytesMin);
  EXPECT_EQ(trains.bytes(kNow, 1e11), TrainLength::kBytesMax);
}

TEST(TrainLength, IsHalfForAWhileAfterALoss) {
  TrainLength trains;
  trains.shorten(kNow);
  trains.shorten(kNow + seconds(6));
  EXPECT_EQ(trains.bytes(kNow + seconds(15), 31.25e6), 15625u);
  EXPECT_EQ(trains.bytes(kNow + seconds(16), 31.25e6), 31250u);
}

TEST(TrainLength, WithoutAdaptationIsTheGreatest) {
  TrainLength trains(false);
  trains.shorten(kNow);
  EXPECT_EQ(trains.bytes(kNow, 1e6), TrainLength::kBytesMax);
}

}  // namespace
}  // namespace ubt
