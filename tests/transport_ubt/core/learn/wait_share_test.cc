// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/wait_share.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

TEST(WaitShare, DoublesUpToAHalfIfMuchIsLost) {
  WaitShare share;
  EXPECT_DOUBLE_EQ(share.value(), 0.1);
  share.returned(0.0011);
  EXPECT_DOUBLE_EQ(share.value(), 0.2);
  share.returned(0.5);
  share.returned(1);
  EXPECT_DOUBLE_EQ(share.value(), 0.5);
}

TEST(WaitShare, FallsByAPointIfLittleIsLost) {
  WaitShare share;
  share.returned(0.00009);
  EXPECT_DOUBLE_EQ(share.value(), 0.09);
  for (int op = 0; op < 20; op++) {
    share.returned(0);
  }
  EXPECT_DOUBLE_EQ(share.value(), 0.01);
}

TEST(WaitShare, StaysInBetween) {
  WaitShare share;
  for (const double loss : {0.0001, 0.0005, 0.001}) {
    share.returned(loss);
    EXPECT_DOUBLE_EQ(share.value(), 0.1);
  }
}

}  // namespace
}  // namespace ubt
