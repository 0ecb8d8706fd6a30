// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "benchmark/registry.h"
#include "tests/benchmark/benchmark_processes.h"
#include "tests/support/redis_server.h"

namespace gloo {
namespace benchmark {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class EveryBenchmark : public BenchmarkProcessTest,
                       public ::testing::WithParamInterface<std::string> {
 protected:
  // Small values, and a count that two ranks cannot share evenly.
  Words quick(Words more = {}) {
    Words arguments{"--elements",
                    "65",
                    "--iteration-count",
                    "2",
                    "--warmup-iters",
                    "1",
                    "--messages",
                    "20"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.push_back(GetParam());
    return arguments;
  }

  std::string row(int elementSize) const {
    const auto bytes = std::to_string(
        65 * (GetParam() == "pairwise_exchange"    ? 1
              : GetParam() == "new_allreduce_ring" ? 4
                                                   : elementSize));
    return std::string(11 - bytes.size(), ' ') + bytes + "         65";
  }
};

TEST_P(EveryBenchmark, TwoRanks) {
  expectRow(runThroughFiles(2, quick()), row(4));
}

TEST_P(EveryBenchmark, HalfPrecision) {
  expectRow(runThroughFiles(2, quick({"--halfprecision"})), row(2));
}

TEST_P(EveryBenchmark, OverUbt) {
  expectRow(runThroughFiles(2, quick({"--transport", "ubt"})), row(4));
}

// As over tcp. Benchmarks that Gloo's tcp does not support in this mode print
// an error.
TEST_P(EveryBenchmark, OverUbtInSyncMode) {
  const std::set<std::string> asynchronous{"allgather",
                                           "allgather_v",
                                           "new_allreduce_ring",
                                           "alltoall",
                                           "alltoall_v",
                                           "broadcast",
                                           "reduce",
                                           "scatter",
                                           "sendrecv_roundtrip",
                                           "sendrecv_stress",
                                           "isendirecv_stress"};
  for (const auto* transport : {"tcp", "ubt"}) {
    const auto results =
        runThroughFiles(2, quick({"--sync", "true", "--transport", transport}));
    if (asynchronous.count(GetParam()) == 0) {
      expectRow(results, row(4));
      continue;
    }
    std::string all;
    for (const auto& result : results) {
      EXPECT_EQ(result.status, 1);
      all += result.output;
    }
    // The other rank may first notice that this one is gone.
    EXPECT_THAT(all, HasSubstr("drop --sync"));
  }
}

std::vector<std::string> allNames() {
  std::vector<std::string> names;
  for (const auto& entry : benchmarks()) {
    names.push_back(entry.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Names,
                         EveryBenchmark,
                         ::testing::ValuesIn(allNames()),
                         [](const auto& i) { return i.param; });

// Without benchmarks that need exactly two processes.
class FourRanks : public EveryBenchmark {};

TEST_P(FourRanks, SeveralInputsAndThreads) {
  expectRow(runThroughFiles(4, quick({"--inputs", "2", "--threads", "2"})),
            row(4));
}

std::vector<std::string> namesForMany() {
  std::vector<std::string> names;
  for (const auto& name : allNames()) {
    if (name.find("send") == std::string::npos) {
      names.push_back(name);
    }
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Names,
                         FourRanks,
                         ::testing::ValuesIn(namesForMany()),
                         [](const auto& i) { return i.param; });

// Large enough to be bounded.
TEST_F(BenchmarkProcessTest, OptireduceInBoundedTime) {
  for (const auto* option : {"--nanos", "--halfprecision", "--sync=true"}) {
    const auto results = runThroughFiles(4,
                                         {"-t",
                                          "ubt",
                                          option,
                                          "--elements",
                                          "300000",
                                          "--iteration-count",
                                          "40",
                                          "allreduce_optireduce"});
    expectRow(results, "     300000");
    EXPECT_THAT(results[0].output, Not(HasSubstr("note:")));
  }
}

// Four ranks form two groups of two.
TEST_F(BenchmarkProcessTest, HierarchicalOptireduceInBoundedTime) {
  for (const auto* option : {"--nanos", "--halfprecision"}) {
    const auto results = runThroughFiles(4,
                                         {"-t",
                                          "ubt",
                                          option,
                                          "--elements",
                                          "300000",
                                          "--iteration-count",
                                          "40",
                                          "allreduce_hierarchical_optireduce"});
    expectRow(results, "     300000");
    EXPECT_THAT(results[0].output, Not(HasSubstr("note:")));
  }
}

// Columns stay Gloo's; a note goes to stderr.
TEST_F(BenchmarkProcessTest, OptireduceSaysWhereItIsNotBounded) {
  const auto output = [this](const char* transport, const char* elements) {
    const auto results = runThroughFiles(2,
                                         {"-t",
                                          transport,
                                          "--elements",
                                          elements,
                                          "--iteration-count",
                                          "2",
                                          "allreduce_optireduce"});
    expectRow(results, "BENCHMARK RESULTS");
    return results[0].output;
  };
  EXPECT_THAT(output("tcp", "300000"),
              AllOf(HasSubstr("note: allreduce_optireduce of 300000 elements "
                              "is not bounded"),
                    HasSubstr("--transport ubt")));
  EXPECT_THAT(output("ubt", "1000"),
              AllOf(HasSubstr("of 1000 elements is not bounded"),
                    HasSubstr("GLOO_UBT_MIN_BYTES (262144)")));
  // Warm-up is long enough for any requested number of iterations.
  EXPECT_THAT(output("ubt", "300000"), Not(HasSubstr("note:")));
}

TEST_F(BenchmarkProcessTest, RedisAsAScriptForGlooNamesIt) {
  test::RedisServer server;
  const Words arguments{"-h",
                        "127.0.0.1",
                        "-p",
                        std::to_string(server.port()),
                        "-x",
                        "job",
                        "-t",
                        "tcp",
                        "--elements",
                        "100",
                        "--iteration-count",
                        "3",
                        "allreduce_ring_chunked"};
  // Twice with the same prefix.
  expectRow(run(2, arguments), "        400        100");
  expectRow(run(2, arguments), "        400        100");
}

TEST_F(BenchmarkProcessTest, RedisUrlWithPassword) {
  test::RedisServer server("secret");
  for (const auto* name : {"broadcast", "reduce_scatter"}) {
    expectRow(run(3,
                  {"--redis-url",
                   server.url(),
                   "--elements",
                   "100",
                   "--iteration-count",
                   "3",
                   name}),
              "        400        100");
  }
  const auto results = run(1, {"--redis-url", server.unixUrl(), "reduce"});
  EXPECT_EQ(results[0].status, 1);
  EXPECT_THAT(results[0].output, HasSubstr("needs a password"));
}

TEST_F(BenchmarkProcessTest, TimeInPlaceOfACount) {
  const auto results = runThroughFiles(2,
                                       {"--elements",
                                        "1000",
                                        "--iteration-time",
                                        "20ms",
                                        "--warmup-iters",
                                        "0",
                                        "allreduce_ring"});
  expectRow(results, "       4000       1000");
}

TEST_F(BenchmarkProcessTest, SyncModeAndBusyPolling) {
  for (const auto* poll : {"false", "true"}) {
    expectRow(runThroughFiles(2,
                              {"--sync",
                               "true",
                               "--busy-poll",
                               poll,
                               "--nanos",
                               "--elements",
                               "100",
                               "--iteration-count",
                               "3",
                               "allreduce_halving_doubling"}),
              "min (ns)");
  }
}

TEST_F(BenchmarkProcessTest, AProcessAlone) {
  expectRow(
      run(1, {"--elements", "7", "--iteration-count", "2", "allreduce_local"}),
      "         28          7");
}

TEST_F(BenchmarkProcessTest, Help) {
  const auto results = run(1, {"--help"});
  EXPECT_EQ(results[0].status, 0);
  EXPECT_THAT(results[0].output,
              AllOf(HasSubstr("allreduce_bcube"), Not(HasSubstr("Try `"))));
}

// Runs the text unchanged, except for the build that bazel would do.
TEST_F(BenchmarkProcessTest, TheExampleInHelpRuns) {
  const auto help = run(1, {"--help"})[0].output;
  const std::string build = "bazel build //benchmark; ";
  const std::string built = "bazel-bin/benchmark/benchmark";
  const std::string last = "done; wait";
  const auto begin = help.find(build);
  ASSERT_NE(begin, std::string::npos) << help;
  const auto end = help.find(last, begin);
  ASSERT_NE(end, std::string::npos) << help;
  auto example = help.substr(begin, end + last.size() - begin);
  example.erase(0, build.size());
  const auto at = example.find(built);
  ASSERT_NE(at, std::string::npos) << help;
  example.replace(at, built.size(), std::getenv("BENCHMARK"));
  const auto path = outputPath(runs_, 0);
  test::ChildProcess shell({"/bin/bash", "-c", example}, path);
  EXPECT_EQ(shell.wait(kLimit).value_or(-1), 0);
  std::stringstream output;
  output << std::ifstream(path).rdbuf();
  EXPECT_THAT(output.str(), HasSubstr("    4000000    1000000"));
}

}  // namespace
}  // namespace benchmark
}  // namespace gloo
