// SPDX-License-Identifier: Apache-2.0
//
// Devices and settings that are invalid: errors name the culprit and the
// allowed values. Also unusual valid ones: a range of ports, IPv6, no
// segmentation, full authentication, harmed datagrams, a small arena.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/integration/job.h"
#include "tests/integration/udp_port.h"

namespace {

using test::Job;
using test::Line;
using test::UdpPort;
using ::testing::AllOf;
using ::testing::HasSubstr;

// The output of a single worker when it creates its device.
std::string alone(const Job::Words& arguments, const Job::Words& environment) {
  Job job(1);
  Job::Words all{"--ops", "0"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  job.start(0, all, environment);
  job.wait(0);
  return job.output(0);
}

// Runs a job to its end and checks every result.
void expectExactSums(Job* job,
                     const Job::Words& arguments,
                     const Job::Words& environment) {
  job->startRest(arguments, environment);
  for (int rank = 0; rank < job->size(); rank++) {
    EXPECT_EQ(job->wait(rank), 0) << job->output(rank);
    const auto ops = job->lines(rank, "op=");
    EXPECT_FALSE(ops.empty());
    for (const Line& op : ops) {
      EXPECT_EQ(op.number("sum"), 1) << op.text();
    }
  }
}

// Ops are bounded, but nothing may be missing on a busy machine.
constexpr char kPatient[] = "GLOO_UBT_BOUND=10s";

int64_t counted(const Job& job, const std::string& counter) {
  int64_t sum = 0;
  for (int rank = 0; rank < job.size(); rank++) {
    for (const Line& line : job.lines(rank, "counters ")) {
      sum += line.number(counter);
    }
  }
  return sum;
}

struct Wrong {
  const char* variable;
  const char* value;
  const char* allowed;
};

class WrongVariable : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongVariable, IsNamedWithItsValueAndTheAllowedValues) {
  const Wrong& wrong = GetParam();
  const std::string text =
      alone({}, {std::string(wrong.variable) + "=" + wrong.value});
  EXPECT_THAT(text,
              AllOf(HasSubstr("ended with: "),
                    HasSubstr(wrong.variable),
                    HasSubstr(wrong.value),
                    HasSubstr(wrong.allowed)));
}

INSTANTIATE_TEST_SUITE_P(
    Each,
    WrongVariable,
    ::testing::Values(
        Wrong{"GLOO_UBT_REPAIR", "all", "one of: none, broadcast, both"},
        Wrong{"GLOO_UBT_ORDER", "any", "one of: arrival, rank"},
        Wrong{"GLOO_UBT_AUTH", "off", "one of: header, full, aead"},
        Wrong{"GLOO_UBT_BOUND", "20", "500us, 20ms or 1s"},
        Wrong{"GLOO_UBT_BOUND", "-5ms", "positive duration"},
        Wrong{"GLOO_UBT_BOUND", "5ms,", "positive duration"},
        Wrong{"GLOO_UBT_CUT_BUDGET", "2.5%", "a share from 0"},
        Wrong{"GLOO_UBT_EXPERIMENT",
              "warmup_ops:-1",
              "integer from 0 to 1000000"},
        Wrong{"GLOO_UBT_EXPERIMENT", "zero_loss:1", "a share from 0"},
        Wrong{"GLOO_UBT_HALT_LOSS", "50%", "a share from 0"},
        Wrong{"GLOO_UBT_EXPERIMENT", "lead_ops:65", "integer from 1 to 64"},
        Wrong{"GLOO_UBT_MIN_BYTES", "256K", "integer from 0"},
        Wrong{"GLOO_UBT_PORTS", "80", "integer from 1024 to 65535"},
        Wrong{"GLOO_UBT_PORTS", "5000-4000", "from 5000 to 65535"},
        Wrong{"GLOO_UBT_PORTS", "5000-70000", "from 5000 to 65535"},
        Wrong{"GLOO_UBT_PORTS", "any", "integer from 1024 to 65535"},
        Wrong{"GLOO_UBT_MTU", "100", "integer from 576 to 65536"},
        Wrong{"GLOO_UBT_EXPERIMENT", "gso:maybe", "one of: on, off"},
        Wrong{"GLOO_UBT_EXPERIMENT", "nosuch:1", "entries such as gso:off"},
        Wrong{"GLOO_UBT_MULTICAST", "on", "one of: auto, off"},
        Wrong{"GLOO_UBT_MULTICAST", "auto", "needs GLOO_UBT_AUTH=full or aead"},
        Wrong{"GLOO_UBT_ARENA_BYTES", "4096", "integer from 1048576"},
        Wrong{"GLOO_UBT_WINDOW_BYTES", "1", "integer from 65536"},
        Wrong{"GLOO_UBT_SECRET_FILE", "/no/such", "readable file"},
        Wrong{"GLOO_UBT_FAULT", "los:0.1", "known are loss:P"},
        Wrong{"GLOO_UBT_FAULT", "loss:1.5", "is no probability"},
        Wrong{"GLOO_UBT_FAULT", "delay:5", "is no delay"},
        Wrong{"GLOO_UBT_FAULT", "seed:x", "has no number"},
        Wrong{"GLOO_UBT_FAULT", "seed:7x", "is no seed"},
        Wrong{"GLOO_UBT_FAULT", "seed:-7", "is no seed"}));

TEST(UnknownVariable, IsAWarningThatNamesTheNearest) {
  const std::string text = alone(
      {},
      {"GLOO_UBT_REPIAR=none", "GLOO_UBT_ARENA_BYTE=1", "GLOO_UBT_GSO=off"});
  EXPECT_THAT(text,
              AllOf(HasSubstr("unknown variable GLOO_UBT_REPIAR"),
                    HasSubstr("did you mean GLOO_UBT_REPAIR?"),
                    HasSubstr("did you mean GLOO_UBT_ARENA_BYTES?"),
                    HasSubstr("unknown variable GLOO_UBT_GSO; did you mean "
                              "GLOO_UBT_EXPERIMENT=gso:...?"),
                    HasSubstr("device=")));
}

TEST(UnknownInterface, ListsThoseThatThereAre) {
  EXPECT_THAT(alone({"--interface", "nosuch0"}, {}),
              AllOf(HasSubstr("no network interface 'nosuch0'"),
                    HasSubstr("there are"),
                    HasSubstr("lo")));
}

TEST(Interface, IsFoundByName) {
  EXPECT_THAT(alone({"--interface", "lo"}, {}), HasSubstr("udp=127.0.0.1:"));
}

TEST(PortRange, InUseIsAnErrorWithTheRemedy) {
  const UdpPort taken;
  const std::string port = std::to_string(taken.port());
  EXPECT_THAT(alone({}, {"GLOO_UBT_PORTS=" + port + "-" + port}),
              AllOf(HasSubstr("every UDP port from " + port + " to " + port),
                    HasSubstr("widen GLOO_UBT_PORTS")));
}

TEST(PortRange, IsKeptTo) {
  Job job(3);
  expectExactSums(&job, {"--ops", "3"}, {"GLOO_UBT_PORTS=21000-21199"});
  for (int rank = 0; rank < 3; rank++) {
    const std::string text = job.output(rank);
    const std::string before = "udp=127.0.0.1:";
    const size_t at = text.find(before);
    ASSERT_NE(at, std::string::npos) << text;
    const int port = std::stoi(text.substr(at + before.size()));
    EXPECT_GE(port, 21000);
    EXPECT_LE(port, 21199);
  }
}

TEST(Mtu, OfTheSmallestKindStillWorks) {
  Job job(3);
  expectExactSums(&job, {"--ops", "3"}, {"GLOO_UBT_MTU=576"});
}

TEST(Mtu, MayDifferBetweenRanks) {
  Job job(2);
  job.start(0, {"--ops", "3"}, {"GLOO_UBT_MTU=1500"});
  expectExactSums(&job, {"--ops", "3"}, {"GLOO_UBT_MTU=9000"});
}

// Few packets of the first rank that halts get through, but its end is noticed.
TEST(Halt, EndsEveryRankAndSaysWhy) {
  Job job(3);
  job.startRest({"--ops", "2000"},
                {"GLOO_UBT_BOUND=5ms",
                 "GLOO_UBT_REPAIR=none",
                 "GLOO_UBT_HALT_LOSS=0.5",
                 "GLOO_UBT_FAULT=loss:0.7"});  // loses control packets, too
  std::string all;
  for (int rank = 0; rank < job.size(); rank++) {
    EXPECT_NE(job.wait(rank), 0);
    EXPECT_THAT(job.output(rank), HasSubstr("ended with: "));
    all += job.output(rank);
  }
  EXPECT_THAT(all, HasSubstr("set GLOO_UBT_HALT_LOSS higher"));
}

TEST(Ipv6, CarriesEverything) {
  Job job(3);
  expectExactSums(&job, {"--ops", "25", "--host", "::1"}, {kPatient});
  EXPECT_THAT(job.output(0), HasSubstr("udp=[::1]:"));
}

TEST(WithoutSegmentation, DatagramsTravelAlone) {
  Job job(3);
  expectExactSums(
      &job,
      {"--ops", "25"},
      {kPatient, "GLOO_UBT_EXPERIMENT=gso:off", "GLOO_UBT_MTU=1500"});
}

class WholeDatagrams : public ::testing::TestWithParam<const char*> {};

// Small slots in trains, and the largest possible slots.
TEST_P(WholeDatagrams, CarryEverything) {
  const std::string auth = std::string("GLOO_UBT_AUTH=") + GetParam();
  for (const char* const mtu : {"GLOO_UBT_MTU=1500", "GLOO_UBT_MTU=65536"}) {
    Job job(3);
    expectExactSums(&job, {"--ops", "25"}, {kPatient, auth, mtu});
    EXPECT_EQ(counted(job, "bad_tag"), 0);
    EXPECT_EQ(counted(job, "send_failed"), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Authenticated,
                         WholeDatagrams,
                         ::testing::Values("full", "aead"));

TEST(SealedDatagrams, AreRepairedLikeOthers) {
  Job job(3);
  expectExactSums(&job,
                  {"--ops", "10"},
                  {"GLOO_UBT_AUTH=aead",
                   "GLOO_UBT_FAULT=loss:0.05,dup:0.05,seed:7",
                   "GLOO_UBT_EXPERIMENT=warmup_ops:1000",
                   "GLOO_UBT_MTU=1500"});
  EXPECT_GT(counted(job, "duplicate_data"), 0);
  EXPECT_EQ(counted(job, "bad_tag"), 0);
}

TEST(RankOrder, CarriesEverything) {
  Job job(3);
  expectExactSums(&job,
                  {"--ops", "25"},
                  {kPatient, "GLOO_UBT_ORDER=rank", "GLOO_UBT_MTU=1500"});
}

TEST(SecretFile, IsReadByAllRanks) {
  test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/secret";
  std::ofstream(path) << "correct horse\n";
  Job job(2);
  job.start(0, {"--ops", "3"}, {"GLOO_UBT_SECRET=correct horse"});
  expectExactSums(&job, {"--ops", "3"}, {"GLOO_UBT_SECRET_FILE=" + path});
}

TEST(InjectedFaults, AreSaidOnceAndRepairedWhileWarmingUp) {
  Job job(3);
  expectExactSums(
      &job,
      {"--ops", "15"},
      {"GLOO_UBT_FAULT=loss:0.05,dup:0.05,reorder:0.1,delay:100us,seed:7",
       "GLOO_UBT_EXPERIMENT=warmup_ops:1000",
       "GLOO_UBT_MTU=1500"});
  EXPECT_GT(counted(job, "duplicate_data"), 0);
  EXPECT_GT(counted(job, "replayed"), 0);
  EXPECT_GT(counted(job, "lost_on_purpose"), 0);
  const std::string text = job.output(0);
  const auto at = text.find("GLOO_UBT_FAULT is on");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(text.find("GLOO_UBT_FAULT is on", at + 1), std::string::npos);
}

TEST(InjectedFaults, EveryDatagramTwiceChangesNothing) {
  Job job(3);
  expectExactSums(
      &job,
      {"--ops", "10"},
      {"GLOO_UBT_FAULT=dup:1", "GLOO_UBT_BOUND=5s", "GLOO_UBT_MTU=1500"});
  EXPECT_GT(counted(job, "duplicate_data"), 0);
  EXPECT_GT(counted(job, "replayed"), 0);
  EXPECT_EQ(counted(job, "lost_on_purpose"), 0);
}

TEST(InjectedFaults, LossWithoutRepairIsAResult) {
  Job job(3);
  job.startRest({"--ops", "20"},
                {"GLOO_UBT_FAULT=loss:0.02",
                 "GLOO_UBT_BOUND=30ms",
                 "GLOO_UBT_REPAIR=none",
                 "GLOO_UBT_MTU=1500"});
  int64_t missing = 0;
  for (int rank = 0; rank < 3; rank++) {
    EXPECT_EQ(job.wait(rank), 0) << job.output(rank);
    const auto ops = job.lines(rank, "op=");
    EXPECT_EQ(ops.size(), 20u);
    for (const Line& op : ops) {
      missing += op.number("missing");
      EXPECT_LE(op.number("took_us"), op.number("limit_us") + 1000000);
    }
  }
  EXPECT_GT(missing, 0);
}

TEST(InjectedFaults, TailsThatAreLostAreCounted) {
  Job job(2);
  job.startRest(
      {"--ops", "3"},
      {"GLOO_UBT_FAULT=tail:0.2", "GLOO_UBT_BOUND=30ms", "GLOO_UBT_MTU=1500"});
  for (const int rank : {0, 1}) {
    EXPECT_EQ(job.wait(rank), 0) << job.output(rank);
  }
  EXPECT_GT(counted(job, "lost_on_purpose"), 0);
}

// A rank is late for buckets whose shard is four times its arena. Data that
// finds no room is dropped, counted, and requested again.
TEST(FullArena, IsCountedAndRepairedWhileWarmingUp) {
  Job job(2);
  const Job::Words small{"GLOO_UBT_ARENA_BYTES=1048576"};
  const Job::Words large{"--ops", "3", "--elements", "2000000"};
  Job::Words late = large;
  late.insert(late.end(), {"--late-ms", "500"});
  job.start(1, late, small);
  expectExactSums(&job, large, small);
  EXPECT_GT(counted(job, "arena_full"), 0);
}

TEST(FullArena, IsAResultUnderABound) {
  Job job(2);
  const Job::Words small{"GLOO_UBT_ARENA_BYTES=1048576",
                         "GLOO_UBT_BOUND=150ms"};
  const Job::Words large{"--ops", "3", "--elements", "2000000"};
  Job::Words late = large;
  late.insert(late.end(), {"--late-ms", "100"});
  job.start(1, late, small);
  job.startRest(large, small);
  for (const int rank : {0, 1}) {
    EXPECT_EQ(job.wait(rank), 0) << job.output(rank);
    const auto ops = job.lines(rank, "op=");
    ASSERT_EQ(ops.size(), 3u);
    for (const Line& op : ops) {
      EXPECT_LE(op.number("took_us"), op.number("limit_us") + 1000000);
    }
  }
  EXPECT_GT(counted(job, "arena_full"), 0);
}

}  // namespace
