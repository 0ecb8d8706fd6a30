// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/session/send_turns.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

TEST(SendTurns, GoRound) {
  SendTurns turns(3);
  turns.start(2);
  EXPECT_EQ(turns.rank(), 2);
  turns.next();
  EXPECT_EQ(turns.rank(), 0);
}

TEST(SendTurns, EachBeginsAnew) {
  SendTurns turns(2);
  EXPECT_FALSE(turns.begun());
  turns.sentData(1000);
  turns.sentData(500);
  EXPECT_TRUE(turns.begun());
  EXPECT_EQ(turns.dataBytes(), 1500);
  turns.turnToControl();
  EXPECT_TRUE(turns.controlOnly());
  turns.next();
  EXPECT_FALSE(turns.begun());
  EXPECT_FALSE(turns.controlOnly());
  EXPECT_EQ(turns.dataBytes(), 0);
}

// Multicast may have more data after a probe was sent.
TEST(SendTurns, DataMayGoOnAfterAPause) {
  SendTurns turns(2);
  turns.dataIsOver();
  EXPECT_TRUE(turns.begun());
  EXPECT_FALSE(turns.controlOnly());
}

}  // namespace
}  // namespace ubt
