// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/report.h"

#include <gtest/gtest.h>

namespace gloo {
namespace compare {
namespace {

nlohmann::ordered_json rowWith(int samples) {
  Measured measured;
  for (int i = samples; i >= 1; i--) {
    measured.slowestUs.push_back(i);
    measured.stepUs.push_back(2 * i);
  }
  return rowOf(AlgorithmSpec{}, measured, 4, 1000);
}

TEST(Report, ARowHasPercentilesMeanAndBandwidths) {
  const auto row = rowWith(10);
  EXPECT_EQ(row["iterations"], 10);
  EXPECT_EQ(row["p50_us"], 5);
  EXPECT_EQ(row["p90_us"], 9);
  EXPECT_EQ(row["p99_us"], 10);
  EXPECT_EQ(row["mean_us"], 5.5);
  EXPECT_EQ(row["slow_tenth_us"], 10);
  EXPECT_EQ(row["step_mean_us"], 11);
  EXPECT_EQ(row["step_slow_tenth_us"], 20);
  EXPECT_EQ(rowWith(36)["slow_tenth_us"], 34.5);  // of 33 to 36
  EXPECT_EQ(rowWith(4)["slow_tenth_us"], 4);
  EXPECT_DOUBLE_EQ(row["algbw_bytes_per_s"], 4000 / 5e-6);
  EXPECT_DOUBLE_EQ(row["busbw_bytes_per_s"], 4000 / 5e-6 * 1.5);
}

// With fewer it would be the maximum.
TEST(Report, P999NeedsAThousandSamples) {
  EXPECT_TRUE(rowWith(999)["p999_us"].is_null());
  EXPECT_EQ(rowWith(1000)["p999_us"], 999);
}

}  // namespace
}  // namespace compare
}  // namespace gloo
