// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/mesh_deadline.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::milliseconds;

TEST(Patience, IsTheTimeoutWhereThatIsOne) {
  EXPECT_EQ(allowedWait(milliseconds(1)), milliseconds(1));
  EXPECT_EQ(allowedWait(std::chrono::hours(100)), std::chrono::hours(100));
}

TEST(Patience, IsLongWithoutATimeout) {
  EXPECT_GT(allowedWait(gloo::kNoTimeout), std::chrono::hours(24 * 300));
}

TEST(Patience, LeavesRoomForArithmeticInNanoseconds) {
  using std::chrono::nanoseconds;
  const milliseconds longest = allowedWait(milliseconds::max());
  EXPECT_GT(longest, std::chrono::hours(24 * 300));
  EXPECT_LT(longest, nanoseconds::max() / 100);
}

}  // namespace
}  // namespace ubt
