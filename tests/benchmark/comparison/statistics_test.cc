// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/statistics.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace gloo {
namespace compare {
namespace {

std::vector<double> oneTo(int last) {
  std::vector<double> values(last);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Percentile, isASampleThatEnoughDoNotExceed) {
  EXPECT_EQ(5, percentile(oneTo(10), .5));
  EXPECT_EQ(9, percentile(oneTo(10), .9));
  EXPECT_EQ(10, percentile(oneTo(10), .99));
  EXPECT_EQ(99, percentile(oneTo(100), .99));
  EXPECT_EQ(999, percentile(oneTo(1000), .999));
  EXPECT_EQ(10, percentile(oneTo(10), 1));
}

TEST(Percentile, ofOneSampleIsThatSample) {
  EXPECT_EQ(1, percentile(oneTo(1), .5));
  EXPECT_EQ(1, percentile(oneTo(1), .001));
}

TEST(Summarise, sortsAndAverages) {
  const auto latencies = summarise({4, 1, 3, 2});
  EXPECT_EQ(2, latencies.p50);
  EXPECT_EQ(4, latencies.p90);
  EXPECT_EQ(4, latencies.p99);
  EXPECT_EQ(2.5, latencies.mean);
}

TEST(Summarise, p999NeedsAThousandSamples) {
  EXPECT_FALSE(summarise(oneTo(999)).p999);
  ASSERT_TRUE(summarise(oneTo(1000)).p999);
  EXPECT_EQ(999, *summarise(oneTo(1000)).p999);
}

}  // namespace
}  // namespace compare
}  // namespace gloo
