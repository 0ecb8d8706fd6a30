// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/idle_policy.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::microseconds;

IdlePolicy of(int ranksPerCpu, size_t bytes) {
  return IdlePolicy::forCall(
      {microseconds(7), microseconds(10)}, ranksPerCpu, bytes);
}

TEST(IdlePolicy, YieldsWithACpuForEachRank) {
  for (const size_t bytes : {1, 1 << 20, 1 << 30}) {
    EXPECT_EQ(of(1, bytes).yield, microseconds(7)) << bytes;
    EXPECT_EQ(of(1, bytes).nap, Duration{0}) << bytes;
  }
}

TEST(IdlePolicy, YieldsInAShortCallWhereTwoShareACpu) {
  EXPECT_EQ(of(2, 256 << 10).yield, microseconds(7));
  EXPECT_EQ(of(2, 256 << 10).nap, Duration{0});
  EXPECT_EQ(of(2, 4 << 20).yield, Duration{0});
  EXPECT_EQ(of(2, 4 << 20).nap, microseconds(20));
}

TEST(IdlePolicy, YieldsInALongCallOfTwoThatMayNotNap) {
  const IdlePolicy policy =
      IdlePolicy::forCall({microseconds(7), Duration{0}}, 2, 4 << 20);
  EXPECT_EQ(policy.yield, microseconds(7));
  EXPECT_EQ(policy.nap, Duration{0});
}

TEST(IdlePolicy, SleepsAtOnceIfManyMayNotNap) {
  for (const size_t bytes : {256 << 10, 4 << 20}) {
    const IdlePolicy policy =
        IdlePolicy::forCall({microseconds(7), Duration{0}}, 3, bytes);
    EXPECT_EQ(policy.yield, Duration{0}) << bytes;
    EXPECT_EQ(policy.nap, Duration{0}) << bytes;
  }
}

TEST(IdlePolicy, NapsOnlyInAWindowThatOutlastsIt) {
  const IdlePolicy configured{microseconds(7), microseconds(10)};
  for (const uint64_t window : {1 << 16, (1 << 20) - 1}) {
    EXPECT_EQ(configured.inWindow(window).nap, Duration{0}) << window;
    EXPECT_EQ(configured.inWindow(window).yield, microseconds(7)) << window;
  }
  EXPECT_EQ(configured.inWindow(1 << 20).nap, microseconds(10));
  EXPECT_EQ(configured.inWindow(1 << 20).yield, microseconds(7));
}

TEST(IdlePolicy, NapsTheLongerTheMoreShareACpu) {
  EXPECT_EQ(of(3, 256 << 10).nap, microseconds(30));
  EXPECT_EQ(of(16, 4 << 20).nap, microseconds(160));
  EXPECT_EQ(of(16, 4 << 20).yield, Duration{0});
}

}  // namespace
}  // namespace ubt
