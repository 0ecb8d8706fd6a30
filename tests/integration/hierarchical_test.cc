// SPDX-License-Identifier: Apache-2.0
//
// Ranks in groups as real processes: sums are right under loss, and the news of
// a rank's death reaches ranks that never talk to it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/job.h"
#include "tests/support/wake_delay.h"

namespace {

using test::Job;
using test::Line;
using ::testing::HasSubstr;

// The promised time, without the lateness of kHops threads on a busy machine:
// those of the kernel's event, Gloo's device, the watch and the caller.
constexpr int64_t kNamedWithinUs = 1000000;
constexpr int kHops = 4;
// How late a caller may run on a busy machine.
constexpr int64_t kLatenessUs = 1000000;

TEST(Groups, GiveTheRightSumsUnderLoss) {
  for (const char* groups : {"2", "3", "6"}) {
    Job job(6);
    job.startRest({"--hierarchical", "--ops", "20"},
                  {std::string("GLOO_UBT_GROUPS=") + groups,
                   "GLOO_UBT_BOUND=10s",
                   "GLOO_UBT_MTU=1500",
                   "GLOO_UBT_REPAIR=both",
                   "GLOO_UBT_FAULT=loss:0.02,dup:0.01,reorder:0.02,seed:3"});
    for (int rank = 0; rank < job.size(); rank++) {
      EXPECT_EQ(job.wait(rank), 0) << job.output(rank);
      const auto ops = job.lines(rank, "op=");
      EXPECT_EQ(ops.size(), 20u);
      for (const Line& op : ops) {
        EXPECT_EQ(op.number("sum"), 1) << op.text();
        EXPECT_EQ(op.number("bounded"), 1) << op.text();
      }
    }
  }
}

// The ranks of one host form a single group: a plain transpose.
TEST(Groups, OfOneHostAreOne) {
  Job job(3);
  job.startRest({"--hierarchical", "--ops", "3"},
                {"GLOO_UBT_GROUPS=host", "GLOO_UBT_BOUND=10s"});
  for (int rank = 0; rank < job.size(); rank++) {
    EXPECT_EQ(job.wait(rank), 0) << job.output(rank);
    for (const Line& op : job.lines(rank, "op=")) {
      EXPECT_EQ(op.number("sum"), 1) << op.text();
    }
  }
}

TEST(Groups, ThatDifferAreNamed) {
  Job job(4);
  job.start(1, {"--hierarchical"}, {"GLOO_UBT_GROUPS=4"});
  job.startRest({"--hierarchical"}, {"GLOO_UBT_GROUPS=2"});
  for (int rank = 0; rank < job.size(); rank++) {
    const Line error = job.await(rank, "ended with: ");
    EXPECT_THAT(error.text(), HasSubstr("rank 0 has GLOO_UBT_GROUPS=2"));
    EXPECT_THAT(error.text(), HasSubstr("rank 1 has GLOO_UBT_GROUPS=4"));
  }
}

class KilledRank : public ::testing::TestWithParam<const char*> {};

TEST_P(KilledRank, IsNamedByAllOthers) {
  Job job(6);
  job.startRest({"--hierarchical", "--ops", "1000000"},
                {GetParam(), "GLOO_UBT_GROUPS=3"});
  constexpr int kCulprit = 3;
  for (int rank = 0; rank < job.size(); rank++) {
    job.await(rank, "op=5 ");
  }
  const test::WakeDelay lateness;
  const int64_t killed = test::nowUs();
  job.process(kCulprit).signal(SIGKILL);
  for (int rank = 0; rank < job.size(); rank++) {
    if (rank == kCulprit) {
      continue;
    }
    const Line error = job.await(rank, "ended with: ");
    EXPECT_THAT(error.text(), HasSubstr("rank 3"));
    EXPECT_LE(error.number("at_us") - killed,
              kNamedWithinUs + kHops * lateness.worst().count());
    EXPECT_EQ(job.wait(rank), 1);
    for (const Line& op : job.lines(rank, "op=")) {
      EXPECT_LE(op.number("took_us"), op.number("limit_us") + kLatenessUs)
          << op.text();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Bounds,
    KilledRank,
    ::testing::Values("GLOO_UBT_BOUND=50ms",
                      "GLOO_UBT_EXPERIMENT=warmup_ops:1000000"));

// The straggler is away from each op for longer than the others need. The
// others go on without its contribution, in both groups.
TEST(Groups, AStragglerDelaysNobody) {
  Job job(4);
  const Job::Words environment{"GLOO_UBT_BOUND=50ms",
                               "GLOO_UBT_GROUPS=2",
                               "GLOO_UBT_EXPERIMENT=lead_ops:64"};
  job.start(
      3, {"--hierarchical", "--ops", "5", "--late-ms", "2000"}, environment);
  job.startRest({"--hierarchical", "--ops", "5"}, environment);
  for (int rank = 0; rank < job.size(); rank++) {
    EXPECT_EQ(job.wait(rank), 0) << job.output(rank);
    const auto ops = job.lines(rank, "op=");
    EXPECT_EQ(ops.size(), 5u);
    for (const Line& op : ops) {
      EXPECT_LE(op.number("took_us"), op.number("limit_us") + kLatenessUs)
          << op.text();
      EXPECT_EQ(op.number("drift"), 0) << op.text();
    }
    EXPECT_GT(ops.front().number("missing"), 0) << ops.front().text();
  }
}

}  // namespace
