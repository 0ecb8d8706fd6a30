// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/session/departure.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

constexpr TimePoint kNow{std::chrono::seconds(1)};

TEST(Departure, TheFirstReasonAndTheFirstCulpritStand) {
  Departure departure(3);
  EXPECT_FALSE(departure.hasFailed());
  departure.blame(-1);
  EXPECT_EQ(departure.culprit(), -1);
  EXPECT_TRUE(departure.fail("rank 2 died"));
  departure.blame(2);
  EXPECT_FALSE(departure.fail("rank 1 gave up"));
  departure.blame(1);
  EXPECT_EQ(departure.why(), "rank 2 died");
  EXPECT_EQ(departure.culprit(), 2);
  EXPECT_EQ(departure.leaveRecord().slot, 2);
}

TEST(Departure, NamesNoRankIfNoneIsToBlame) {
  const Departure departure(3);
  EXPECT_EQ(departure.leaveRecord().type, ControlType::kLeave);
  EXPECT_EQ(departure.leaveRecord().slot, ControlRecord::kNobody);
}

TEST(Departure, AFurtherReasonNeedsNoMemory) {
  Departure departure(2);
  std::string spare = "out of memory";
  departure.fail("first");
  departure.failWithout("second", &spare);
  EXPECT_EQ(departure.why(), "first");
  EXPECT_EQ(spare, "out of memory");
}

TEST(Departure, ARankThatHasLeftSaysNothingLater) {
  Departure departure(2);
  departure.leaveAt(kNow);
  EXPECT_EQ(departure.dueAt(), kNow);
  departure.leave();
  EXPECT_TRUE(departure.hasLeft());
  EXPECT_EQ(departure.dueAt(), kNever);
}

}  // namespace
}  // namespace ubt
