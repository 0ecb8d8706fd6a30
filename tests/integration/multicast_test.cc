// SPDX-License-Identifier: Apache-2.0
//
// Results by multicast between processes on loopback. Results are the same if
// all ranks hear, some, or none.

#include <gtest/gtest.h>

#include "tests/integration/job.h"

namespace {

using test::Job;
using test::Line;

constexpr int kRanks = 4;
constexpr char kFull[] = "GLOO_UBT_AUTH=full";
// Long enough for ranks to find out which ranks hear. No bound expires.
const Job::Words kArguments = {"--ops", "40", "--pause-ms", "2"};

Job::Words with(const Job::Words& more) {
  Job::Words words = {"GLOO_UBT_MULTICAST=auto", "GLOO_UBT_BOUND=10s"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

int64_t counted(const Job& job, int rank, const std::string& counter) {
  int64_t sum = 0;
  for (const Line& line : job.lines(rank, "counters ")) {
    sum += line.number(counter);
  }
  return sum;
}

void expectExactSums(Job* job) {
  for (int rank = 0; rank < job->size(); rank++) {
    EXPECT_EQ(job->wait(rank), 0) << job->output(rank);
    const auto ops = job->lines(rank, "op=");
    EXPECT_EQ(ops.size(), 40u);
    for (const Line& op : ops) {
      EXPECT_EQ(op.number("sum"), 1) << op.text();
    }
  }
}

class MulticastModes : public ::testing::TestWithParam<const char*> {};

TEST_P(MulticastModes, GivesTheSameSumsWithLessSent) {
  Job job(kRanks);
  job.startRest(kArguments, with({std::string("GLOO_UBT_AUTH=") + GetParam()}));
  expectExactSums(&job);
  for (int rank = 0; rank < kRanks; rank++) {
    const int64_t sent = counted(job, rank, "sent_data");
    const int64_t toAll = counted(job, rank, "sent_multicast");
    // A quarter of the packets, once the owner knows that ranks hear: three
    // parts are contributions, one is results. It takes a few ops to know that,
    // and more if ops are fast.
    EXPECT_GT(toAll, sent / 12) << job.output(rank);
    EXPECT_EQ(counted(job, rank, "bad_tag"), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Each,
                         MulticastModes,
                         ::testing::Values("full", "aead"));

TEST(Multicast, ARankThatIsNotAskedToHearGetsItsResultsByItself) {
  Job job(kRanks);
  job.start(0, kArguments, {kFull, "GLOO_UBT_BOUND=10s"});
  job.startRest(kArguments, with({kFull}));
  expectExactSums(&job);
  EXPECT_EQ(counted(job, 0, "sent_multicast"), 0);
  EXPECT_GT(counted(job, 1, "sent_multicast"), 0) << job.output(1);
}

TEST(Multicast, LossAndDisorderChangeNothing) {
  Job job(kRanks);
  job.startRest(
      kArguments,
      with({kFull,
            "GLOO_UBT_REPAIR=both",
            "GLOO_UBT_FAULT=loss:0.02,dup:0.01,reorder:0.02,seed:3"}));
  expectExactSums(&job);
}

// Multicast may work there or not.
TEST(Multicast, Ipv6ComesToTheSame) {
  Job job(kRanks);
  auto arguments = kArguments;
  arguments.insert(arguments.end(), {"--host", "::1"});
  job.startRest(arguments, with({kFull}));
  expectExactSums(&job);
}

}  // namespace
