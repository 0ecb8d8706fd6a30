// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/exact_job.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ubt::sim {
namespace {

SimOptions job(int ranks) {
  SimOptions options;
  options.ranks = ranks;
  options.groups = 4;
  options.oneShape = true;
  options.elementsMax = 1000000;
  options.ops = 5;
  return options;
}

std::vector<Duration> timesOf(const std::string& name,
                              const SimOptions& options) {
  return exactTimes(options, name);
}

// The time in units of the time that a bucket takes on one link.
double inBuckets(Duration time, const SimOptions& options) {
  const double bucket = 4.0 * options.elementsMax * 1514 / 1448;
  return std::chrono::duration<double>(time).count() * options.bytesPerSecond /
         bucket;
}

Duration median(std::vector<Duration> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// Nobody else uses the links.
TEST(ExactJob, TakesTheTimeOfItsBytes) {
  SimOptions options = job(8);
  for (const double bytesPerSecond : {6.25e7, 1.25e9}) {
    options.bytesPerSecond = bytesPerSecond;
    for (const char* name : MessageGraph::kNames) {
      const std::vector<Duration> times = timesOf(name, options);
      ASSERT_EQ(times.size(), static_cast<size_t>(options.ops)) << name;
      const double least = std::string(name) == "hierarchical_transpose" ? 2.5
                           : std::string(name) == "tree"                 ? 2
                                                         : 14.0 / 8;
      EXPECT_GT(inBuckets(median(times), options), 0.98 * least) << name;
      EXPECT_LT(inBuckets(median(times), options), 1.5 * least) << name;
    }
  }
}

// All ranks wait for a late one, because each algorithm has a step that needs
// it.
TEST(ExactJob, AStragglerHoldsUpEverybody) {
  SimOptions options = job(8);
  options.lateRank = 3;
  options.lateOps = 1;
  options.lateBy = std::chrono::milliseconds(100);
  for (const char* name : MessageGraph::kNames) {
    for (const Duration time : timesOf(name, options)) {
      EXPECT_GT(time, std::chrono::milliseconds(90)) << name;
    }
  }
}

// Connections share links evenly, so that no rank's link waits for another.
TEST(ExactJob, AllSendAllTheTime) {
  SimOptions options = job(16);
  options.pathDelay = std::chrono::microseconds(50);
  options.pathTail = 1.5;
  for (const char* name : {"transpose", "halving_doubling"}) {
    EXPECT_LT(inBuckets(median(timesOf(name, options)), options), 2.2) << name;
  }
}

TEST(ExactJob, ABurstTakesItsShareOfALink) {
  SimOptions options = job(8);
  options.bytesPerSecond = 6.25e7;
  options.ops = 40;
  const Duration alone = median(timesOf("ring", options));
  options.burstEvery = std::chrono::seconds(2);
  options.burstLeast = std::chrono::milliseconds(380);
  options.burstMost = std::chrono::milliseconds(430);
  options.burstSources = 2;
  options.burstShare = 0.344;
  std::vector<Duration> times = timesOf("ring", options);
  EXPECT_LT(median(times), alone * 11 / 10);
  // A third of a link is left, as in the lab's p3.
  EXPECT_GT(*std::max_element(times.begin(), times.end()), alone * 5 / 2);
  EXPECT_LT(*std::max_element(times.begin(), times.end()), alone * 4);
}

// A step waits for the slowest of all paths. With more steps, the sum is
// larger.
TEST(ExactJob, TailsOfWaysAddUpOverSteps) {
  SimOptions options = job(32);
  options.elementsMax = 10000;
  options.ops = 20;
  options.pathDelay = std::chrono::microseconds(100);
  options.pathEvery = std::chrono::microseconds(500);
  const auto slower = [&](const char* name) {
    options.pathTail = 1;
    const Duration without = median(timesOf(name, options));
    options.pathTail = 3;
    const Duration with = median(timesOf(name, options));
    return std::chrono::duration<double>(with - without).count();
  };
  EXPECT_GT(slower("ring"), 10 * 1e-4);      // 62 steps
  EXPECT_LT(slower("transpose"), 8 * 1e-4);  // 2 steps
}

// Callers of the lab's networks: a quiet one, and one with long bursts.
TEST(ExactJob, TcpFillsQuietLinksAndYieldsToBursts) {
  SimOptions options = job(8);
  options.bytesPerSecond = 6.25e7;
  options.tcp = true;
  options.ops = 20;
  const Duration alone = median(timesOf("ring", options));
  EXPECT_GT(inBuckets(alone, options), 1.7);
  EXPECT_LT(inBuckets(alone, options), 2.2);
  options.burstEvery = std::chrono::seconds(2);
  options.burstLeast = std::chrono::milliseconds(380);
  options.burstMost = std::chrono::milliseconds(430);
  options.burstSources = 2;
  options.burstShare = 0.344;
  std::vector<Duration> times = timesOf("ring", options);
  EXPECT_GT(*std::max_element(times.begin(), times.end()), alone * 3 / 2);
}

// Callers need not wait for each other, and may do several ops at once.
TEST(ExactJob, OpsMayOverlap) {
  ExactJob exact(job(4), "ring");
  const auto at = std::chrono::milliseconds(1);
  for (int rank = 0; rank < 4; rank++) {
    exact.enter(rank, 0, at * (rank + 1), 100000);
    exact.enter(rank, 1, at * (rank + 2), 1000);
  }
  EndedCall ended;
  int count = 0;
  for (; exact.next(&ended); count++) {
    EXPECT_GT(ended.at, ended.op == 0 ? 4 * at : 5 * at);
  }
  EXPECT_EQ(8, count);
}

}  // namespace
}  // namespace ubt::sim
