// SPDX-License-Identifier: Apache-2.0
//
// Command lines that cannot run, jobs that crashed, and ranks that are killed.
#include <signal.h>

#include "tests/benchmark/benchmark_processes.h"
#include "tests/support/wake_delay.h"

namespace gloo {
namespace benchmark {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The promise, plus a margin for threads that a busy machine delays: the
// kernel's notice, Gloo's device, the watch, the caller, and the exit.
constexpr std::chrono::seconds kNamedWithin{1};
constexpr int kHops = 5;

class BenchmarkFaultsTest : public BenchmarkProcessTest {};

TEST_F(BenchmarkFaultsTest, WrongCommandLines) {
  const auto output = [this](const Words& arguments) {
    const auto results = run(1, arguments);
    EXPECT_EQ(results[0].status, 1);
    return results[0].output;
  };
  EXPECT_THAT(output({"allgathre"}), HasSubstr("did you mean allgather?"));
  EXPECT_THAT(output({"--elemens", "1", "reduce"}), HasSubstr("--elements"));
  EXPECT_THAT(output({"-t", "ibverbs", "reduce"}),
              HasSubstr("unknown transport"));
  EXPECT_THAT(output({"--tcp-device", "nosuch0", "reduce"}),
              AllOf(HasSubstr("nosuch0"), HasSubstr("has lo")));
  EXPECT_THAT(output({"--shared-path", "/no/such", "reduce"}),
              HasSubstr("no such directory"));
  EXPECT_THAT(output({"sendrecv_stress"}), HasSubstr("exactly 2 processes"));
  EXPECT_THAT(output({"pairwise_exchange"}), HasSubstr("even number"));
}

TEST_F(BenchmarkFaultsTest, FilesOfACrashedJobAreNamed) {
  const auto path = directory_.path() + "/crashed";
  std::filesystem::create_directory(path);
  const Words arguments{"--shared-path", path, "reduce"};
  {
    // Rank 0 alone, killed while it waits.
    test::ChildProcess alone({std::getenv("BENCHMARK"),
                              "-s2",
                              "--tcp-device",
                              "lo",
                              "--shared-path",
                              path,
                              "reduce"},
                             "");
    const auto end = std::chrono::steady_clock::now() + kLimit;
    while (std::filesystem::is_empty(path)) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
    }
    // Other ranks that end do not kill it by a signal.
    std::ifstream status("/proc/" + std::to_string(alone.pid()) + "/status");
    std::string line;
    while (std::getline(status, line) && line.find("SigIgn") != 0) {
    }
    EXPECT_TRUE(std::stoull(line.substr(7), nullptr, 16) &
                1ULL << (SIGPIPE - 1));
    // Its file may still have its temporary name.
    alone.wait(std::chrono::milliseconds(100));
  }
  const auto results = run(1, arguments);
  EXPECT_EQ(results[0].status, 1);
  EXPECT_THAT(results[0].output, HasSubstr("another prefix"));
}

TEST_F(BenchmarkFaultsTest, AKilledRankEndsTheOthers) {
  for (const auto* transport : {"tcp", "ubt"}) {
    const auto path = directory_.path() + "/" + transport;
    std::filesystem::create_directory(path);
    std::vector<std::unique_ptr<test::ChildProcess>> ranks;
    for (const auto* rank : {"0", "1", "2"}) {
      ranks.push_back(
          std::make_unique<test::ChildProcess>(Words{std::getenv("BENCHMARK"),
                                                     "-s3",
                                                     "-r",
                                                     rank,
                                                     "-t",
                                                     transport,
                                                     "--tcp-device",
                                                     "lo",
                                                     "--shared-path",
                                                     path,
                                                     "--elements",
                                                     "1000",
                                                     "--iteration-count",
                                                     "100000000",
                                                     "allreduce_ring"},
                                               path + ".out"));
    }
    // Rank 0 prints its header once all are connected.
    const auto end = std::chrono::steady_clock::now() + kLimit;
    const auto said = [&] {
      std::stringstream output;
      output << std::ifstream(path + ".out").rdbuf();
      return output.str();
    };
    const auto started = [&] {
      return said().find("iterations") != std::string::npos;
    };
    while (!started()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      ASSERT_FALSE(ranks[0]->wait(std::chrono::milliseconds(5)));
    }
    // Nothing is printed when the measured context is connected. Until then
    // Gloo waits for its timeout, not for the peer.
    ASSERT_FALSE(ranks[0]->wait(std::chrono::milliseconds(500)));
    const test::WakeDelay lateness;
    const auto killed = std::chrono::steady_clock::now();
    ranks[1]->signal(SIGKILL);
    EXPECT_EQ(ranks[0]->wait(kLimit), 1) << transport << ": " << said();
    EXPECT_EQ(ranks[2]->wait(kLimit), 1) << transport << ": " << said();
    EXPECT_LE(std::chrono::steady_clock::now() - killed,
              kNamedWithin + kHops * lateness.worst())
        << transport;
  }
}

}  // namespace
}  // namespace benchmark
}  // namespace gloo
