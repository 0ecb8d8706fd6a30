// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/send_queue.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

TEST(SendQueue, GivesContributionsInSlotOrderThenNothing) {
  SendQueue queue(3, 0);
  uint32_t slot = 9;
  bool repair = true;
  for (uint32_t expected = 0; expected < 3; expected++) {
    EXPECT_TRUE(queue.hasScatter());
    ASSERT_TRUE(queue.nextScatter(&slot, &repair));
    EXPECT_EQ(slot, expected);
    EXPECT_FALSE(repair);
  }
  EXPECT_FALSE(queue.hasScatter());
  EXPECT_FALSE(queue.nextScatter(&slot, &repair));
}

TEST(SendQueue, RepairsGoFirstAndOnce) {
  SendQueue queue(4, 0);
  uint32_t slot = 0;
  bool repair = false;
  queue.nextScatter(&slot, &repair);
  queue.nextScatter(&slot, &repair);
  queue.repeatScatter(1);
  queue.repeatScatter(1);
  queue.repeatScatter(0);
  queue.repeatScatter(3);  // not sent yet, so already in the queue
  for (const uint32_t expected : {0, 1}) {
    ASSERT_TRUE(queue.nextScatter(&slot, &repair));
    EXPECT_EQ(slot, expected);
    EXPECT_TRUE(repair);
  }
  for (const uint32_t expected : {2, 3}) {
    ASSERT_TRUE(queue.nextScatter(&slot, &repair));
    EXPECT_EQ(slot, expected);
    EXPECT_FALSE(repair);
  }
  EXPECT_FALSE(queue.hasScatter());
}

TEST(SendQueue, ResultsFollowTheOrderOfClosing) {
  SendQueue queue(0, 5);
  uint32_t index = 9;
  EXPECT_FALSE(queue.hasBroadcast(0));
  EXPECT_FALSE(queue.nextBroadcast(0, &index));
  EXPECT_TRUE(queue.hasBroadcast(2));
  EXPECT_TRUE(queue.nextBroadcast(2, &index));
  EXPECT_EQ(index, 0u);
  EXPECT_TRUE(queue.nextBroadcast(2, &index));
  EXPECT_EQ(index, 1u);
  EXPECT_FALSE(queue.nextBroadcast(2, &index));
  EXPECT_EQ(queue.broadcastSent(), 2u);
  queue.repeatBroadcast(4);  // a slot, not an index
  EXPECT_TRUE(queue.hasBroadcast(2));
  ASSERT_TRUE(queue.nextBroadcastAgain(&index));
  EXPECT_EQ(index, 4u);
  EXPECT_FALSE(queue.nextBroadcastAgain(&index));
}

TEST(SendQueue, StopsForAPeerThatIsFinished) {
  SendQueue queue(4, 4);
  uint32_t slot = 0;
  bool repair = false;
  queue.nextScatter(&slot, &repair);
  queue.repeatScatter(0);
  queue.stopScatter();
  EXPECT_FALSE(queue.hasScatter());
  EXPECT_FALSE(queue.nextScatter(&slot, &repair));
  EXPECT_TRUE(queue.hasBroadcast(1));
  queue.repeatBroadcast(2);
  queue.stopBroadcast();
  EXPECT_FALSE(queue.hasBroadcast(4));
  EXPECT_FALSE(queue.nextBroadcastAgain(&slot));
}

}  // namespace
}  // namespace ubt
