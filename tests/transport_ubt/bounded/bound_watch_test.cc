// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/bound_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gloo {
namespace transport {
namespace ubt {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

// The report of a call of two ranks; its scatter stage ended at 4 ms.
::ubt::OpReport expired(uint64_t received, uint64_t absent = 0) {
  ::ubt::OpReport report;
  report.bounded = true;
  report.scatterExpired = true;
  report.boundScatter = milliseconds(4);
  report.scatter.resize(2);
  report.scatter[1].expected = 1000;
  report.scatter[1].received = received;
  report.scatter[1].absent = absent;
  report.scatter[1].late = 1000 - received - absent;
  return report;
}

// All warnings of the watch for this many such calls.
std::string after(BoundWatch* watch, int calls, const ::ubt::OpReport& report) {
  std::string said;
  while (calls-- > 0) {
    said += watch->returned(report);
  }
  return said;
}

TEST(BoundWatch, NamesTheBoundThePaceAndWhatToSet) {
  BoundWatch watch(milliseconds(4), milliseconds(4));
  EXPECT_EQ(after(&watch, BoundWatch::kCalls - 1, expired(250)), "");
  EXPECT_THAT(watch.returned(expired(250)),
              AllOf(HasSubstr("10 calls in a row ended at 4ms with 75 %"),
                    HasSubstr("some 16ms:"),
                    HasSubstr("GLOO_UBT_BOUND=32ms, or unset it")));
}

TEST(BoundWatch, SaysSoOnce) {
  BoundWatch watch(milliseconds(4), milliseconds(4));
  EXPECT_NE(after(&watch, BoundWatch::kCalls, expired(250)), "");
  EXPECT_EQ(after(&watch, 100, expired(250)), "");
  EXPECT_EQ(watch.returned(expired(1000)), "");
  EXPECT_EQ(after(&watch, 100, expired(250)), "");
}

TEST(BoundWatch, KnowsWhatWasSetWhereStagesEndLater) {
  BoundWatch watch(milliseconds(1), milliseconds(2));
  EXPECT_THAT(after(&watch, BoundWatch::kCalls, expired(250)),
              AllOf(HasSubstr("ended at 4ms"),
                    HasSubstr("some 16ms:"),
                    HasSubstr("GLOO_UBT_BOUND=8ms,16ms,")));
}

// Ranks alternate in being first. The first rank knows of no other rank when
// the bound comes.
TEST(BoundWatch, CallsThatSayNothingChangeNothing) {
  BoundWatch watch(milliseconds(4), milliseconds(4));
  std::string said;
  for (int call = 1; call < BoundWatch::kCalls; call++) {
    said += watch.returned(expired(250));
    said += watch.returned(expired(0, 1000));
  }
  EXPECT_EQ(said, "");
  EXPECT_NE(watch.returned(expired(250)), "");
}

// Without repair, results may be the part that always misses the bound.
TEST(BoundWatch, LooksAtResultsToo) {
  BoundWatch watch(milliseconds(20), milliseconds(1));
  ::ubt::OpReport report = expired(1000);
  report.endedBy = ::ubt::EndedBy::kBound;
  report.boundScatter = milliseconds(20);
  report.boundBroadcast = milliseconds(1);
  report.broadcast.resize(2);
  report.broadcast[1].expected = 1000;
  report.broadcast[1].received = 100;
  EXPECT_THAT(after(&watch, BoundWatch::kCalls, report),
              AllOf(HasSubstr("the broadcast stages of 10 calls"),
                    HasSubstr("at 1ms with 90 %"),
                    HasSubstr("GLOO_UBT_BOUND=20ms, or unset")));
}

TEST(BoundWatch, OtherSizesAreNoComfort) {
  BoundWatch watch(milliseconds(4), milliseconds(4));
  ::ubt::OpReport small = expired(1000);
  small.scatter[1].expected = small.scatter[1].received = 100;
  std::string said;
  for (int i = 0; i < BoundWatch::kCalls; i++) {
    said += watch.returned(expired(250)) + watch.returned(small);
  }
  EXPECT_NE(said, "");
}

TEST(BoundWatch, HasNoPaceWhereNothingComes) {
  BoundWatch watch(milliseconds(4), milliseconds(4));
  ::ubt::OpReport report = expired(0);
  report.boundScatter = microseconds(1500);
  EXPECT_THAT(after(&watch, BoundWatch::kCalls, report),
              AllOf(HasSubstr("at 1500us with 100 %"), HasSubstr("Unset it")));
}

TEST(BoundWatch, LeavesBurstsAlone) {
  BoundWatch watch(milliseconds(4), milliseconds(4));
  const ::ubt::OpReport complete = expired(1000);
  for (int i = 0; i < 5; i++) {
    EXPECT_EQ(after(&watch, BoundWatch::kCalls - 1, expired(250)), "");
    EXPECT_EQ(watch.returned(complete), "");
  }
  EXPECT_NE(after(&watch, BoundWatch::kCalls, expired(250)), "");
}

TEST(BoundWatch, LeavesAloneWhatIsMostlyThere) {
  BoundWatch watch(milliseconds(4), milliseconds(4));
  EXPECT_EQ(after(&watch, 100, expired(500)), "");
}

TEST(BoundWatch, RanksThatHaveNotEnteredAreNoFaultOfTheBound) {
  BoundWatch watch(milliseconds(4), milliseconds(4));
  EXPECT_EQ(after(&watch, 100, expired(0, 1000)), "");
}

TEST(BoundWatch, EarlyEndsAreNoFaultOfTheBound) {
  BoundWatch watch(milliseconds(4), milliseconds(4));
  ::ubt::OpReport report = expired(250);
  report.scatterEarly = true;
  EXPECT_EQ(after(&watch, 100, report), "");
}

}  // namespace
}  // namespace ubt
}  // namespace transport
}  // namespace gloo
