// SPDX-License-Identifier: Apache-2.0
//
// One of four ranks is killed or stopped at a random time. Every other rank
// returns or throws by its deadline, and errors name the culprit.
//
//   RANDOM_FAULTS=200 bazel test //tests/integration:random_faults_test

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>

#include "tests/integration/job.h"
#include "tests/support/wake_delay.h"

namespace {

using test::Job;
using test::Line;
using ::testing::HasSubstr;

constexpr int kRanks = 4;
constexpr int64_t kTimeoutMs = 1500;
// The deadline of a call. The call may have begun right before the fault, and
// may wait to begin.
constexpr int64_t kDeadlineUs = kTimeoutMs * 1000;
// Threads that a busy machine may run late, one after the other: the worker's,
// the watch, the driver, and those of the process that is named.
constexpr int kHops = 4;

int setting(const char* name, int otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoi(value);
}

struct Fault {
  int signal = SIGKILL;
  int culprit = 0;
  int afterOps = 0;
  std::chrono::microseconds then{0};
  bool byHand = false;  // its bound is set by hand

  explicit Fault(uint64_t seed) {
    std::mt19937_64 random(seed);
    signal = random() % 2 == 0 ? SIGKILL : SIGSTOP;
    culprit = static_cast<int>(random() % kRanks);
    // During the warm-up of 10 ops, or after it.
    afterOps = static_cast<int>(random() % 30);
    then = std::chrono::microseconds(random() % 20000);
    byHand = random() % 2 == 0;
  }

  std::string str() const {
    return std::string(signal == SIGKILL ? "SIGKILL" : "SIGSTOP") +
           " of rank " + std::to_string(culprit) + ", " +
           std::to_string(then.count()) + " us after op " +
           std::to_string(afterOps) + (byHand ? ", bounded by hand" : "");
  }
};

// How much later than its deadline the last survivor ended, in microseconds.
int64_t harm(const Fault& fault) {
  Job job(kRanks);
  job.startRest(
      {"--ops", "1000000", "--timeout-ms", std::to_string(kTimeoutMs)},
      {fault.byHand ? "GLOO_UBT_BOUND=50ms"
                    : "GLOO_UBT_EXPERIMENT=warmup_ops:10"});
  for (int rank = 0; rank < kRanks; rank++) {
    job.await(rank, "op=" + std::to_string(fault.afterOps) + " ");
  }
  std::this_thread::sleep_for(fault.then);
  const test::WakeDelay lateness;
  const int64_t at = test::nowUs();
  job.process(fault.culprit).signal(fault.signal);
  int64_t latestUs = 0;
  for (int rank = 0; rank < kRanks; rank++) {
    if (rank == fault.culprit) {
      continue;
    }
    const Line error = job.await(rank, "ended with: ");
    EXPECT_THAT(error.text(),
                HasSubstr("rank " + std::to_string(fault.culprit)));
    latestUs = std::max(latestUs, error.number("at_us") - at - kDeadlineUs);
  }
  EXPECT_LE(latestUs, kHops * lateness.worst().count() + 1000000);
  return latestUs;
}

TEST(RandomFaults, AreSurvivedInTimeAndNameTheCulprit) {
  const auto seed = static_cast<uint64_t>(setting("RANDOM_FAULTS_SEED", 1));
  const int faults = setting("RANDOM_FAULTS", 6);
  int kills = 0;
  int64_t worstUs = INT64_MIN;
  for (int i = 0; i < faults; i++) {
    const Fault fault(seed + i);
    SCOPED_TRACE("RANDOM_FAULTS_SEED=" + std::to_string(seed + i) + ": " +
                 fault.str());
    worstUs = std::max(worstUs, harm(fault));
    kills += fault.signal == SIGKILL;
  }
  std::printf(
      "%d kills, %d stops; the latest end was %ld ms after its "
      "deadline\n",
      kills,
      faults - kills,
      static_cast<long>(worstUs / 1000));
}

}  // namespace
