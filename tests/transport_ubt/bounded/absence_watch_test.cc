// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/absence_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ubt {
namespace {

// The report of a call of three ranks; `absent` of rank 2's 1000 bytes were
// absent.
OpReport call(uint64_t absent) {
  OpReport report;
  report.bounded = true;
  report.scatter.resize(3);
  report.scatter[1].expected = 1000;
  report.scatter[1].received = 1000;
  report.scatter[2].expected = 1000;
  report.scatter[2].absent = absent;
  return report;
}

// All warnings of the watch for this many such calls.
std::string after(AbsenceWatch* watch, int calls, const OpReport& report) {
  std::string said;
  while (calls-- > 0) {
    said += watch->returned(report);
  }
  return said;
}

TEST(AbsenceWatch, NamesARankThatAlwaysStragglesOnce) {
  AbsenceWatch watch;
  EXPECT_EQ(after(&watch, AbsenceWatch::kCalls - 1, call(1000)), "");
  EXPECT_THAT(watch.returned(call(1000)),
              ::testing::StartsWith("rank 2 entered the last 30 allreduces"));
  EXPECT_EQ(watch.returned(call(0)), "");
  EXPECT_EQ(after(&watch, 1000, call(1000)), "");
}

TEST(AbsenceWatch, LeavesPausesAlone) {
  AbsenceWatch watch;
  for (int i = 0; i < 5; i++) {
    EXPECT_EQ(after(&watch, AbsenceWatch::kCalls - 1, call(1000)), "");
    EXPECT_EQ(watch.returned(call(999)), "");  // some of it came
  }
}

TEST(AbsenceWatch, WarmUpIsNoComfort) {
  AbsenceWatch watch;
  OpReport exact = call(0);
  exact.bounded = false;
  std::string said;
  for (int i = 0; i < AbsenceWatch::kCalls; i++) {
    said += watch.returned(exact) + watch.returned(call(1000));
  }
  EXPECT_NE(said, "");
}

}  // namespace
}  // namespace ubt
