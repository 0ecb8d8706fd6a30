// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/patience.h"

#include <gtest/gtest.h>

namespace gloo {
namespace transport {
namespace ubt {
namespace {

using std::chrono::milliseconds;

TEST(Patience, IsTheTimeoutWhereThatIsOne) {
  EXPECT_EQ(patience(milliseconds(1)), milliseconds(1));
  EXPECT_EQ(patience(std::chrono::hours(100)), std::chrono::hours(100));
}

TEST(Patience, IsLongWithoutATimeout) {
  EXPECT_GT(patience(kNoTimeout), std::chrono::hours(24 * 300));
}

TEST(Patience, LeavesRoomForArithmeticInNanoseconds) {
  using std::chrono::nanoseconds;
  const milliseconds longest = patience(milliseconds::max());
  EXPECT_GT(longest, std::chrono::hours(24 * 300));
  EXPECT_LT(longest, nanoseconds::max() / 100);
}

}  // namespace
}  // namespace ubt
}  // namespace transport
}  // namespace gloo
