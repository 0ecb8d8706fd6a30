// SPDX-License-Identifier: Apache-2.0
//
// Ranks that die, stop, never enter, come late or disagree. The others return
// in time, and their errors name the culprit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/integration/job.h"
#include "tests/support/redis_server.h"
#include "tests/support/wake_delay.h"

namespace {

using test::Job;
using test::Line;
using ::testing::HasSubstr;

// The promised time, without the lateness of kHops threads on a busy machine:
// those of the kernel's event, Gloo's device, the watch and the caller.
constexpr int64_t kNamedWithinUs = 1000000;
constexpr int kHops = 4;

int64_t namedWithinUs(const test::WakeDelay& lateness) {
  return kNamedWithinUs + kHops * lateness.worst().count();
}
// How late a caller may run on a busy machine.
constexpr int64_t kLatenessUs = 1000000;

// Ops are bounded from the first, by 4 x (50 + 50) ms.
const Job::Words kByHand{"GLOO_UBT_BOUND=50ms"};

void expectOpsWithinTheirBounds(const Job& job, int rank) {
  for (const Line& op : job.lines(rank, "op=")) {
    EXPECT_LE(op.number("took_us"), op.number("limit_us") + kLatenessUs)
        << op.text();
  }
}

// Expects that every rank but `culprit` ends with an error that contains
// `text`, soon after `sinceUs`. `lateness` was measured since then.
void expectOthersName(Job* job,
                      int culprit,
                      const std::string& text,
                      int64_t sinceUs,
                      const test::WakeDelay& lateness) {
  for (int rank = 0; rank < job->size(); rank++) {
    if (rank == culprit) {
      continue;
    }
    const Line error = job->await(rank, "ended with: ");
    const int64_t tookUs = error.number("at_us") - sinceUs;
    std::printf("rank %d: %ld ms, lateness %ld ms: %s\n",
                rank,
                static_cast<long>(tookUs / 1000),
                static_cast<long>(lateness.worst().count() / 1000),
                error.text().c_str());
    EXPECT_THAT(error.text(), HasSubstr(text));
    EXPECT_LE(tookUs, namedWithinUs(lateness));
    EXPECT_EQ(job->wait(rank), 1);
  }
}

void killOneOf(int ranks, const Job::Words& environment, int afterOps) {
  Job job(ranks);
  job.startRest({"--ops", "1000000"}, environment);
  const int culprit = ranks - 2;
  for (int rank = 0; rank < ranks; rank++) {
    job.await(rank, "op=" + std::to_string(afterOps) + " ");
  }
  const test::WakeDelay lateness;
  const int64_t killed = test::nowUs();
  job.process(culprit).signal(SIGKILL);
  expectOthersName(
      &job, culprit, "rank " + std::to_string(culprit), killed, lateness);
  for (int rank = 0; rank < ranks; rank++) {
    expectOpsWithinTheirBounds(job, rank);
  }
}

TEST(KilledRank, IsNamedByTheOthersOnceBoundsAreLearned) {
  killOneOf(3, {}, 30);
}

TEST(KilledRank, IsNamedByTheOthersWhileWarmingUp) {
  killOneOf(3, {"GLOO_UBT_EXPERIMENT=warmup_ops:1000000"}, 5);
}

TEST(KilledRank, IsNamedUnderABoundSetByHand) {
  killOneOf(4, kByHand, 10);
}

TEST(KilledRank, IsNamedByRanksThatWereBusyElsewhere) {
  // Rank 0 enters no op for seconds. Meanwhile rank 2 throws and ends, too.
  Job job(3);
  job.start(0, {"--ops", "2", "--pause-ms", "1500"}, kByHand);
  job.startRest({"--ops", "1000000"}, kByHand);
  job.await(1, "op=0 ");
  job.await(2, "op=0 ");
  const test::WakeDelay lateness;
  const int64_t killed = test::nowUs();
  job.process(1).signal(SIGKILL);
  const Line error = job.await(0, "ended with: ");
  EXPECT_THAT(error.text(), HasSubstr("rank 1"));
  // Rank 0 pauses for 1.5 s before each op.
  EXPECT_LE(error.number("at_us") - killed, namedWithinUs(lateness) + 1500000);
  EXPECT_THAT(job.await(2, "ended with: ").text(), HasSubstr("rank 1"));
}

// A child keeps the connections of the dead rank open, so none closes. The
// others notice the silence (docs/semantics.md: a rank that answers nothing).
TEST(KilledRank, IsNamedThoughItsChildLivesOn) {
  constexpr int64_t kSilenceUs = 10000000;
  for (const auto& environment :
       {Job::Words{}, Job::Words{"GLOO_UBT_EXPERIMENT=warmup_ops:1000000"}}) {
    Job job(3);
    const Job::Words arguments{"--ops", "1000000", "--timeout-ms", "60000"};
    Job::Words withChild = arguments;
    withChild.insert(withChild.end(), {"--child-ms", "60000"});
    job.start(1, withChild, environment);
    job.startRest(arguments, environment);
    for (int rank = 0; rank < 3; rank++) {
      job.await(rank, "op=30 ");
    }
    const auto child =
        static_cast<pid_t>(job.await(1, "child=").number("child"));
    ASSERT_GT(child, 0);
    const test::WakeDelay lateness;
    const int64_t killed = test::nowUs();
    job.process(1).signal(SIGKILL);
    for (const int rank : {0, 2}) {
      const Line error = job.await(rank, "ended with: ");
      std::printf("rank %d: %ld ms: %s\n",
                  rank,
                  static_cast<long>((error.number("at_us") - killed) / 1000),
                  error.text().c_str());
      EXPECT_THAT(error.text(), HasSubstr("rank 1"));
      EXPECT_LE(error.number("at_us") - killed,
                kSilenceUs + namedWithinUs(lateness));
    }
    EXPECT_EQ(kill(child, SIGKILL), 0) << "the child should have lived on";
  }
}

TEST(StoppedRank, IsNamedWhenTheTimeoutHasPassed) {
  for (const auto& environment :
       {kByHand, Job::Words{"GLOO_UBT_EXPERIMENT=warmup_ops:5"}}) {
    Job job(3);
    job.startRest({"--ops", "1000000", "--timeout-ms", "1500", "--stay"},
                  environment);
    for (int rank = 0; rank < 3; rank++) {
      job.await(rank, "op=10 ");
    }
    job.process(1).signal(SIGSTOP);
    const int64_t stopped = test::nowUs();
    for (const int rank : {0, 2}) {
      const Line error = job.await(rank, "ended with: ");
      std::printf("rank %d: %ld ms: %s\n",
                  rank,
                  static_cast<long>((error.number("at_us") - stopped) / 1000),
                  error.text().c_str());
      // The first rank that throws leaves, and the other may notice that first.
      EXPECT_THAT(error.text(), HasSubstr("rank 1"));
      expectOpsWithinTheirBounds(job, rank);
      int since = 0;
      for (const Line& op : job.lines(rank, "op=")) {
        since += op.number("at_us") > stopped;
      }
      // The stopped rank's engine stands still, too, and sends no results of
      // its shard.
      EXPECT_LE(since, 5);
    }
  }
}

TEST(StoppedRank, GoesOnWhenItIsWokenInTime) {
  Job job(3);
  job.startRest({"--ops", "60", "--pause-ms", "5"}, kByHand);
  for (int rank = 0; rank < 3; rank++) {
    job.await(rank, "op=5 ");
  }
  job.process(1).signal(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  job.process(1).signal(SIGCONT);
  for (int rank = 0; rank < 3; rank++) {
    EXPECT_EQ(job.wait(rank), 0) << job.output(rank);
    const auto ops = job.lines(rank, "op=");
    ASSERT_EQ(ops.size(), 60u);
    EXPECT_EQ(ops.back().number("complete"), 1) << ops.back().text();
    EXPECT_EQ(ops.back().number("sum"), 1) << ops.back().text();
  }
}

TEST(StoppedRank, IsNamedWhileWarmingUp) {
  Job job(3);
  job.startRest({"--ops", "1000000", "--timeout-ms", "1500", "--stay"},
                {"GLOO_UBT_EXPERIMENT=warmup_ops:1000000"});
  for (int rank = 0; rank < 3; rank++) {
    job.await(rank, "op=3 ");
  }
  job.process(1).signal(SIGSTOP);
  for (const int rank : {0, 2}) {
    EXPECT_THAT(job.await(rank, "ended with: ").text(), HasSubstr("rank 1"));
  }
}

TEST(AbsentRank, IsNamedByTimeoutWhileWarmingUp) {
  Job job(3);
  job.start(2, {"--ops", "0", "--stay"});
  job.startRest({"--timeout-ms", "1000", "--stay"});
  std::string both;
  for (const int rank : {0, 1}) {
    const Line error = job.await(rank, "ended with: ");
    EXPECT_THAT(error.text(), HasSubstr("rank 2"));
    both += error.text();
  }
  // The second rank may hear of the first one's error before it fails itself.
  EXPECT_THAT(both, HasSubstr("rank 2 has not entered"));
  EXPECT_THAT(both, HasSubstr("1000 ms"));
}

TEST(AbsentRank, GivesResultsUntilTheLeadIsUsedUp) {
  Job job(3);
  job.start(2, {"--ops", "0", "--stay"}, kByHand);
  job.startRest({"--ops", "100", "--timeout-ms", "1000", "--stay"}, kByHand);
  for (const int rank : {0, 1}) {
    const Line error = job.await(rank, "ended with: ");
    EXPECT_THAT(error.text(), HasSubstr("rank 2"));
    const auto ops = job.lines(rank, "op=");
    EXPECT_EQ(ops.size(), 4u);
    for (const Line& op : ops) {
      // Only rank 2's contributions are missing; its engine did its work.
      EXPECT_EQ(op.number("missing"), 100000) << op.text();
      EXPECT_EQ(op.number("drift"), 0) << op.text();
    }
    expectOpsWithinTheirBounds(job, rank);
  }
}

TEST(AbsentRank, IsWaitedForWhileWarmingUp) {
  Job job(2);
  job.start(1, {"--ops", "3", "--late-ms", "700"});
  job.startRest({"--ops", "3"});
  for (const int rank : {0, 1}) {
    EXPECT_EQ(job.wait(rank), 0) << job.output(rank);
    for (const Line& op : job.lines(rank, "op=")) {
      EXPECT_EQ(op.number("sum"), 1) << op.text();
    }
  }
}

TEST(Disagreement, OfElementTypesNamesBoth) {
  Job job(3);
  // They enter late, once all are connected. They stay, because the end of the
  // first one that throws would hide the cause from others.
  Job::Words arguments{"--elements", "80000", "--late-ms", "200", "--stay"};
  arguments.insert(arguments.end(), {"--type", "float64"});
  job.start(1, arguments);
  arguments.back() = "float32";
  job.startRest(arguments);
  for (int rank = 0; rank < 3; rank++) {
    const Line error = job.await(rank, "ended with: ");
    EXPECT_THAT(error.text(), HasSubstr("80000 x float32"));
    EXPECT_THAT(error.text(), HasSubstr("80000 x float64"));
    EXPECT_THAT(error.text(), HasSubstr("rank 1 brings 80000 x float64"));
  }
}

TEST(Disagreement, OfElementCountsNamesBothEvenWithLateRanks) {
  Job job(3);
  job.start(1, {"--elements", "90000", "--late-ms", "300", "--stay"}, kByHand);
  job.startRest({"--elements", "80000", "--stay"}, {"GLOO_UBT_BOUND=10s"});
  for (int rank = 0; rank < 3; rank++) {
    const Line error = job.await(rank, "ended with: ");
    EXPECT_THAT(error.text(), HasSubstr("80000 x float32"));
    EXPECT_THAT(error.text(), HasSubstr("rank 1 brings 90000 x float32"));
  }
}

TEST(Disagreement, OfAuthenticationNamesBoth) {
  for (const char* const other : {"GLOO_UBT_AUTH=full", "GLOO_UBT_AUTH=aead"}) {
    Job job(2);
    job.start(1, {"--late-ms", "200", "--stay"}, {other});
    job.start(0, {"--late-ms", "200", "--stay"});
    for (const int rank : {0, 1}) {
      const Line error = job.await(rank, "ended with: ");
      EXPECT_THAT(error.text(), HasSubstr("rank 1 brings"));
      EXPECT_THAT(error.text(), HasSubstr("rank 0 brings"));
      EXPECT_THAT(error.text(), HasSubstr(std::string("with ") + other));
      EXPECT_THAT(error.text(), HasSubstr("with GLOO_UBT_AUTH=header"));
    }
  }
}

TEST(Disagreement, OfEligibilityIsNamedOnceAllAreConnected) {
  Job job(3);
  job.start(1, {}, {"GLOO_UBT_MIN_BYTES=1000"});
  job.startRest({});
  for (int rank = 0; rank < 3; rank++) {
    const Line error = job.await(rank, "ended with: ");
    EXPECT_THAT(error.text(),
                HasSubstr("rank " + std::to_string(rank != 1) +
                          " has GLOO_UBT_MIN_BYTES="));
    EXPECT_THAT(error.text(), HasSubstr("1000"));
    EXPECT_THAT(error.text(), HasSubstr("262144"));
    EXPECT_TRUE(job.lines(rank, "op=").empty());
  }
}

TEST(Disagreement, OfAlgorithmsNamesARankByTimeout) {
  Job job(3);
  job.start(1, {"--exact", "--timeout-ms", "1500"});
  job.startRest({"--timeout-ms", "1500"});
  for (const int rank : {0, 2}) {
    EXPECT_THAT(job.await(rank, "ended with: ").text(), HasSubstr("rank 1"));
  }
  job.await(1, "ended with: ");
}

TEST(Disagreement, OfSecretsNamesARankByTimeout) {
  Job job(2);
  job.start(1, {"--timeout-ms", "1000", "--stay"}, {"GLOO_UBT_SECRET=other"});
  job.start(0, {"--timeout-ms", "1000", "--stay"}, {"GLOO_UBT_SECRET=one"});
  std::string both;
  for (const int rank : {0, 1}) {
    const Line error = job.await(rank, "ended with: ");
    EXPECT_THAT(error.text(), HasSubstr("rank " + std::to_string(1 - rank)));
    both += error.text();
  }
  // The second rank may notice the end of the first before its own timeout.
  EXPECT_THAT(both, HasSubstr("GLOO_UBT_SECRET"));
}

TEST(BlockedUdp, IsNamedWithTheRankAndTheRemedy) {
  // All packets that rank 1 sends are lost, as behind a firewall.
  for (const auto* bound :
       {"GLOO_UBT_EXPERIMENT=warmup_ops:20", "GLOO_UBT_BOUND=20ms"}) {
    Job job(3);
    job.start(1,
              {"--ops", "10", "--timeout-ms", "1000", "--stay"},
              {bound, "GLOO_UBT_FAULT=loss:1"});
    job.startRest({"--ops", "10", "--timeout-ms", "1000", "--stay"}, {bound});
    std::string all;
    for (const int rank : {0, 2}) {
      const Line error = job.await(rank, "ended with: ");
      EXPECT_THAT(error.text(), HasSubstr("rank 1"));
      all += error.text();
    }
    EXPECT_THAT(all, HasSubstr("GLOO_UBT_PORTS"));
  }
}

// The warning comes long before the timeout and tells the user the remedy.
TEST(BlockedUdp, IsWarnedOfWhileACallWaits) {
  Job job(3);
  job.start(1, {"--timeout-ms", "600000"}, {"GLOO_UBT_FAULT=loss:1"});
  job.startRest({"--timeout-ms", "600000"});
  for (const int rank : {0, 2}) {
    const Line warning = job.await(rank, "no valid UDP datagram has arrived");
    EXPECT_THAT(warning.text(),
                AllOf(HasSubstr("from rank 1 (127.0.0.1:"),
                      HasSubstr("GLOO_UBT_PORTS"),
                      HasSubstr("GLOO_SOCKET_IFNAME")));
    EXPECT_TRUE(job.lines(rank, "ended with: ").empty());
  }
}

TEST(ARankOfAJobThroughRedis, IsNamedWhenKilled) {
  test::RedisServer server;
  Job job(3);
  job.startRest({"--ops", "1000000", "--redis", server.unixUrl()});
  for (int rank = 0; rank < 3; rank++) {
    job.await(rank, "op=3 ");
  }
  server.kill();  // never on the training path
  for (int rank = 0; rank < 3; rank++) {
    const auto ops = job.lines(rank, "op=").size();
    job.await(rank, "op=" + std::to_string(ops + 10) + " ");
  }
  const test::WakeDelay lateness;
  const int64_t killed = test::nowUs();
  job.process(2).signal(SIGKILL);
  expectOthersName(&job, 2, "rank 2", killed, lateness);
}

}  // namespace
