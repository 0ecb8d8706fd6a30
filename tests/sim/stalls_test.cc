// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/stalls.h"

#include <gtest/gtest.h>

namespace ubt::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{seconds(1)};

SimOptions withStalls() {
  SimOptions options;
  options.stallGap = milliseconds(400);
  options.stallLeast = milliseconds(50);
  options.stallMost = milliseconds(150);
  return options;
}

TEST(Stalls, TakeTheirShareOfTime) {
  const SimOptions options = withStalls();
  Stalls stalls(options, 0, kStart);
  const std::chrono::duration<double> still =
      stalls.stoodStill(kStart, kStart + seconds(2000));
  EXPECT_NEAR(still.count() / 2000, 100.0 / 500, 0.02);
}

TEST(Stalls, DelayWorkByThatTimeAlone) {
  const SimOptions options = withStalls();
  Stalls stalls(options, 0, kStart);
  Duration waited{0};
  for (TimePoint begin = kStart; begin < kStart + seconds(20);
       begin += milliseconds(7)) {
    for (const Duration work : {milliseconds(1), milliseconds(300)}) {
      const TimePoint end = stalls.end(begin, work);
      const Duration still = stalls.stoodStill(begin, end);
      EXPECT_EQ(end - begin, work + still);
      waited += still;
      EXPECT_EQ(stalls.end(stalls.begin(end, work), work), end);
    }
  }
  EXPECT_GT(waited, seconds(20));
}

TEST(Stalls, DifferBetweenRanks) {
  const SimOptions options = withStalls();
  const auto firstMove = [&](int rank) {
    return Stalls(options, rank, kStart).end(kStart, seconds(1));
  };
  EXPECT_EQ(firstMove(0), firstMove(0));
  EXPECT_NE(firstMove(0), firstMove(1));
}

TEST(Stalls, AreNeverWithoutAGap) {
  const SimOptions options;
  Stalls stalls(options, 0, kStart);
  EXPECT_EQ(stalls.end(kStart, seconds(9)), kStart + seconds(9));
  EXPECT_EQ(stalls.begin(kStart + seconds(9), seconds(9)), kStart);
}

}  // namespace
}  // namespace ubt::sim
