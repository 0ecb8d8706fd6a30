// SPDX-License-Identifier: Apache-2.0
//
// Two ranks over loopback. Their threads mix their tags in different orders.

#include <gtest/gtest.h>

#include <future>
#include <random>
#include <string>
#include <vector>

#include "tests/transport_ubt/io/two_ranks.h"

namespace ubt {
namespace {

constexpr int kRanks = TwoRanks::kRanks;
constexpr int kThreads = 8;
constexpr int kTags = 60000;

// The number of right sums of a rank's thread before the first error.
int sum(TwoRanks* job,
        int rank,
        const TwoRanks::Sessions& sessions,
        const std::vector<uint32_t>& tags) {
  int right = 0;
  for (const uint32_t tag : tags) {
    std::vector<float> bucket(16, 1.0F);
    const std::string why = job->allreduce(rank, sessions, tag, &bucket);
    if (!why.empty() ||
        bucket != std::vector<float>(bucket.size(), float{kRanks})) {
      ADD_FAILURE() << "tag " << tag << ": "
                    << (why.empty() ? "another sum" : why);
      return right;
    }
    right++;
  }
  return right;
}

TEST(ScatteredTags, MeetWhateverTheOrderOfThreads) {
  TwoRanks job;
  const TwoRanks::Sessions sessions = job.open(1);
  std::mt19937 random(13);
  std::vector<std::vector<uint32_t>> tags(kThreads);
  for (int i = 0; i < kTags; i++) {
    tags[i % kThreads].push_back(random());
  }
  std::vector<std::future<int>> threads;
  threads.reserve(kRanks * kThreads);
  for (int rank = 0; rank < kRanks; rank++) {
    for (const std::vector<uint32_t>& own : tags) {
      threads.push_back(std::async(std::launch::async, [&, rank] {
        return sum(&job, rank, sessions, own);
      }));
    }
  }
  int right = 0;
  for (auto& thread : threads) {
    right += thread.get();
  }
  EXPECT_EQ(right, kRanks * kTags);
  job.close(sessions);
}

}  // namespace
}  // namespace ubt
