// SPDX-License-Identifier: Apache-2.0
//
// Callers outside of the simulator: times and results of their ops.

#include "transport_ubt/sim/bounded_job.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "transport_ubt/sim/plain_reduction.h"

namespace ubt::sim {
namespace {

using std::chrono::milliseconds;

constexpr int kRanks = 4;
constexpr uint32_t kElements = 20000;

SimOptions options() {
  SimOptions options;
  options.ranks = kRanks;
  options.protocol.warmupOps = 5;
  options.protocol.timeout = std::chrono::seconds(5);
  return options;
}

// A job whose ranks do one op after the other.
class Job {
 public:
  explicit Job(const SimOptions& options)
      : job_(options, plainReduction()),
        buckets_(kRanks, std::vector<float>(kElements)) {}

  // All ranks enter an op, each with its rank + 1, at these times. Returns what
  // has ended, by rank.
  std::vector<EndedCall> run(uint32_t op, const std::vector<Duration>& at) {
    for (int rank = 0; rank < kRanks; rank++) {
      buckets_[rank].assign(kElements, static_cast<float>(rank + 1));
      job_.enter(rank, op, at[rank], buckets_[rank].data(), kElements);
    }
    std::vector<EndedCall> all(kRanks);
    EndedCall ended;
    while (job_.next(&ended)) {
      EXPECT_EQ(op, ended.op);
      EXPECT_EQ("", ended.failure);
      all[ended.rank] = ended;
    }
    return all;
  }

  BoundedJob& job() { return job_; }
  const std::vector<float>& bucket(int rank) const { return buckets_[rank]; }

 private:
  BoundedJob job_;
  std::vector<std::vector<float>> buckets_;
};

TEST(BoundedJob, SumsOverRanks) {
  Job job(options());
  for (uint32_t op = 0; op < 10; op++) {
    const Duration at = job.job().now() + milliseconds(1);
    for (const auto& ended : job.run(op, {at, at, at, at})) {
      EXPECT_GT(ended.at, at);
      EXPECT_EQ(op >= 5, ended.report.bounded);
    }
    for (int rank = 0; rank < kRanks; rank++) {
      EXPECT_EQ(std::vector<float>(kElements, 10), job.bucket(rank));
    }
  }
  EXPECT_TRUE(job.job().violations().empty());
}

TEST(BoundedJob, LeavesARankOutThatIsLateNowAndThen) {
  Job job(options());
  int left = 0;
  for (uint32_t op = 0; op < 200; op++) {
    const Duration at = job.job().now() + milliseconds(1);
    const bool late = op % 10 == 9;
    const Duration last = at + milliseconds(late ? 100 : 0);
    const auto all = job.run(op, {at, at, at, last});
    EXPECT_GE(all[3].at, last);
    // The late rank gets the same result when it comes.
    EXPECT_EQ(job.bucket(0), job.bucket(3));
    if (all[0].at < last) {
      left++;
      EXPECT_GT(all[0].report.pairsMissing, 0U);
      // The others' sum, scaled to all ranks.
      EXPECT_FLOAT_EQ(6 * 4 / 3.0F, job.bucket(0)[0]);
    } else {
      EXPECT_EQ(10, job.bucket(0)[0]);
    }
  }
  EXPECT_GT(left, 0);
}

TEST(BoundedJob, SeveralOpsMayBeUnderWay) {
  BoundedJob job(options(), plainReduction());
  std::vector<std::vector<float>> buckets(3 * kRanks,
                                          std::vector<float>(kElements, 1));
  for (uint32_t op = 0; op < 3; op++) {
    for (int rank = 0; rank < kRanks; rank++) {
      // Half of the ranks have another order.
      job.enter(rank,
                rank % 2 == 0 ? op : 2 - op,
                milliseconds(1),
                buckets[op * kRanks + rank].data(),
                kElements);
    }
  }
  EndedCall ended;
  int count = 0;
  for (; job.next(&ended); count++) {
    EXPECT_EQ("", ended.failure);
  }
  EXPECT_EQ(3 * kRanks, count);
  for (const auto& bucket : buckets) {
    EXPECT_EQ(std::vector<float>(kElements, kRanks), bucket);
  }
}

TEST(BoundedJob, ACallThatNobodyJoinsFails) {
  BoundedJob job(options(), plainReduction());
  std::vector<float> bucket(kElements);
  job.enter(2, 0, milliseconds(1), bucket.data(), kElements);
  EndedCall ended;
  ASSERT_TRUE(job.next(&ended));
  EXPECT_EQ(2, ended.rank);
  EXPECT_NE("", ended.failure);
  EXPECT_FALSE(job.next(&ended));
}

}  // namespace
}  // namespace ubt::sim
