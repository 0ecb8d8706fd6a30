// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/base/deadlines.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "transport_ubt/core/base/retries.h"

namespace ubt {
namespace {

TimePoint at(int ns) {
  return TimePoint{} + Duration{ns};
}

TEST(Deadlines, WithoutAnyIsNever) {
  Deadlines deadlines(3);
  EXPECT_EQ(deadlines.earliest(), kNever);
  EXPECT_EQ(deadlines.at(2), kNever);
  deadlines.set(2, kNever);
  EXPECT_EQ(deadlines.earliest(), kNever);
  deadlines.forDue(kNever, [](int rank) { ADD_FAILURE() << rank; });
}

RC_GTEST_PROP(Deadlines, KnowsTheEarliestAndTheDueOnes, ()) {
  const int ranks = *rc::gen::inRange(1, 40);
  Deadlines deadlines(ranks);
  std::vector<TimePoint> plain(ranks, kNever);
  const auto changes = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, ranks), rc::gen::inRange(0, 30)));
  for (const auto& [rank, ns] : changes) {
    const TimePoint when = ns == 0 ? kNever : at(ns);
    plain[rank] = when;
    deadlines.set(rank, when);
    RC_ASSERT(deadlines.at(rank) == when);
    RC_ASSERT(deadlines.earliest() ==
              *std::min_element(plain.begin(), plain.end()));
  }
  const TimePoint now = at(*rc::gen::inRange(0, 30));
  std::vector<int> due;
  deadlines.forDue(now, [&](int rank) {
    due.push_back(rank);
    deadlines.set(rank, *rc::gen::arbitrary<bool>() ? kNever : now);
  });
  std::vector<int> expected;
  for (int rank = 0; rank < ranks; rank++) {
    if (plain[rank] <= now) {
      expected.push_back(rank);
    }
  }
  RC_ASSERT(due == expected);
  deadlines.clear();
  RC_ASSERT(deadlines.earliest() == kNever);
}

TEST(Retries, PausesDoubleUntilTheRankAnswers) {
  Retries retries(2);
  constexpr Duration kFirst = std::chrono::milliseconds(10);
  const auto pause = [&] { return retries.at(1) - at(0); };
  for (int times : {1, 2, 4, 8, 16, 32, 32}) {
    retries.schedule(1, at(0), kFirst);
    EXPECT_EQ(pause(), times * kFirst);
  }
  EXPECT_EQ(retries.at(0), kNever);
  retries.restart(1, at(0), kFirst);
  EXPECT_EQ(pause(), kFirst);
  retries.schedule(1, at(0), kFirst);
  EXPECT_EQ(pause(), 2 * kFirst);
}

TEST(Retries, ShortPausesBecomeAsLongAsOthers) {
  Retries retries(1);
  for (int i = 0; i < 100; i++) {
    retries.schedule(0, at(0), std::chrono::microseconds(1));
  }
  EXPECT_EQ(retries.at(0) - at(0), Retries::kPauseMost);
}

TEST(Retries, StopForOneAndForAll) {
  Retries retries(3);
  retries.schedule(0, at(0), Duration{10});
  retries.schedule(2, at(5), Duration{10});
  retries.stop(0);
  EXPECT_EQ(retries.earliest(), at(15));
  retries.stopAll();
  EXPECT_EQ(retries.earliest(), kNever);
}

}  // namespace
}  // namespace ubt
