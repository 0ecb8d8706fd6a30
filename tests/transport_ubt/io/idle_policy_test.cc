// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/idle_policy.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::microseconds;

IdlePolicy on(int ranks, int cpus) {
  return IdlePolicy::forHost({microseconds(7), microseconds(10)}, ranks, cpus);
}

TEST(IdlePolicy, YieldsWhereFewShareACpu) {
  for (const int ranks : {1, 4, 8}) {
    EXPECT_EQ(on(ranks, 4).yield, microseconds(7)) << ranks;
    EXPECT_EQ(on(ranks, 4).nap, Duration{0}) << ranks;
  }
}

TEST(IdlePolicy, NapsTheLongerTheMoreShareACpu) {
  EXPECT_EQ(on(9, 4).nap, microseconds(30));
  EXPECT_EQ(on(12, 4).nap, microseconds(30));
  EXPECT_EQ(on(64, 4).nap, microseconds(160));
  EXPECT_EQ(on(64, 4).yield, Duration{0});
}

TEST(IdlePolicy, TakesAnUnknownNumberOfCpusForOne) {
  EXPECT_EQ(on(3, 0).nap, microseconds(30));
}

}  // namespace
}  // namespace ubt
