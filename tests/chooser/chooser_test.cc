// SPDX-License-Identifier: Apache-2.0
//
// Every order of events of a small job that some tens of seconds allow. The
// program `chooser` explores more.

#include <gtest/gtest.h>

#include "tests/chooser/explorer.h"

namespace ubt::chooser {
namespace {

bool never() {
  return false;
}

// Explores all schedules of at most two deviations. Of those with two, only one
// part of `parts`.
void exploreTwo(const JobOptions& options,
                uint64_t schedulesMin,
                uint32_t parts = 1) {
  Explorer explorer(options);
  for (int deviations = 0; deviations <= 2; deviations++) {
    EXPECT_TRUE(
        explorer.explore(deviations, never, 0, deviations < 2 ? 1 : parts))
        << explorer.violation() << "\n  --replay '"
        << toText(explorer.culprit()) << "'";
  }
  EXPECT_GE(explorer.schedules(), schedulesMin);
}

JobOptions job(int ranks, RepairPolicy repair) {
  JobOptions options;
  options.ranks = ranks;
  options.repair = repair;
  return options;
}

TEST(Chooser, FindsNothingWithTwoRanks) {
  exploreTwo(job(2, RepairPolicy::kBroadcast), 20000);
  exploreTwo(job(2, RepairPolicy::kBoth), 20000);
  exploreTwo(job(2, RepairPolicy::kNone), 20000);
}

TEST(Chooser, FindsNothingInWarmUp) {
  JobOptions options = job(2, RepairPolicy::kBroadcast);
  options.exact = true;
  exploreTwo(options, 20000);
  options.ranks = 3;
  exploreTwo(options, 20000, 8);
}

TEST(Chooser, FindsNothingWithTwoSlots) {
  JobOptions options = job(2, RepairPolicy::kBroadcast);
  options.slots = 2;
  exploreTwo(options, 20000);
}

TEST(Chooser, FindsNothingWhereAllocationsFail) {
  JobOptions options = job(2, RepairPolicy::kBroadcast);
  options.starves = 1;
  exploreTwo(options, 20000);
}

TEST(Chooser, FindsNothingWithThreeRanks) {
  exploreTwo(job(3, RepairPolicy::kBroadcast), 100000, 3);
}

TEST(Chooser, FindsNothingWithThreeRanksThatRepairBoth) {
  exploreTwo(job(3, RepairPolicy::kBoth), 40000, 8);
}

TEST(Chooser, FindsNothingWithThreeRanksThatRepairNothing) {
  exploreTwo(job(3, RepairPolicy::kNone), 40000, 8);
}

TEST(Schedule, IsReadAsItIsWritten) {
  const std::string text = "0:hold 3:overtake12 4:drop 19:close2 30:deadline";
  Schedule schedule;
  ASSERT_TRUE(fromText(text, &schedule));
  EXPECT_EQ(schedule.size(), 5u);
  EXPECT_EQ(toText(schedule), text);
  for (const char* bad : {"drop",
                          "1:",
                          "1:fly",
                          "1:close",
                          "1:drop2",
                          "x:drop",
                          "2:drop 1:drop",
                          "1:close999"}) {
    EXPECT_FALSE(fromText(bad, &schedule)) << bad;
  }
}

// The same schedule gives the same run. A schedule that fits no run is an
// error.
TEST(SmallJob, RepeatsAnyRun) {
  Schedule schedule;
  ASSERT_TRUE(fromText("4:drop 9:postpone 20:duplicate", &schedule));
  SmallJob first{JobOptions()};
  SmallJob second{JobOptions()};
  EXPECT_EQ(first.run(schedule, nullptr), "");
  EXPECT_EQ(second.run(schedule, nullptr), "");
  EXPECT_EQ(first.steps(), second.steps());
  ASSERT_TRUE(fromText("0:drop", &schedule));  // drops an entry
  EXPECT_NE(SmallJob{JobOptions()}.run(schedule, nullptr), "");
}

}  // namespace
}  // namespace ubt::chooser
