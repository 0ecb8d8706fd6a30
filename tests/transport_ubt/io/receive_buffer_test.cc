// SPDX-License-Identifier: Apache-2.0
//
// Ranks whose receive buffer holds less than their network needs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "tests/transport_ubt/io/two_ranks.h"

namespace ubt {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kOps = 100;
constexpr size_t kElements = 200000;

void sumOften(TwoRanks* job) {
  const TwoRanks::Sessions sessions = job->open(1);
  const auto sums = [&](int rank) {
    for (int op = 0; op < kOps; op++) {
      std::vector<float> bucket(kElements, 1);
      EXPECT_EQ(job->allreduce(rank, sessions, 0, &bucket), "");
      EXPECT_EQ(bucket[kElements / 2], 2);
    }
  };
  auto other = std::async(std::launch::async, sums, 1);
  sums(0);
  other.get();
  job->close(sessions);
}

TEST(ReceiveBuffer, ASmallOneIsNamedOnceAndSumsAreRight) {
  TwoRanks job(
      loopback(), reductionKernels(), std::chrono::seconds(1), 4 << 10);
  sumOften(&job);
  ASSERT_FALSE(job.warnings().empty());
  EXPECT_LE(job.warnings().size(), 2u);  // one of each rank
  EXPECT_THAT(job.warnings()[0], HasSubstr("sysctl -w net.core.rmem_max="));
}

// On a busy machine the network may need more than the kernel gives. But this
// window may not get larger than its buffer.
TEST(ReceiveBuffer, NothingIsSaidOfOneThatHoldsTheWindow) {
  TwoRanks job(loopback(),
               reductionKernels(),
               std::chrono::seconds(1),
               128 << 10,
               64 << 10);
  sumOften(&job);
  EXPECT_THAT(job.warnings(), IsEmpty());
}

}  // namespace
}  // namespace ubt
