// SPDX-License-Identifier: Apache-2.0
//
// Limits, each on both sides of its edge.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "tests/transport_ubt/core/one_rank.h"
#include "transport_ubt/core/link/peer_link.h"
#include "transport_ubt/core/session/lead.h"
#include "transport_ubt/core/session/session.h"

namespace ubt {
namespace {

using std::chrono::milliseconds;

// docs/wire_format.md, Numbers and credit: before the first limit arrives, a
// sender may use 458752 / ((N - 1) * S) numbers.
TEST(Credit, NoNumberAtOrBeyondTheLimitIsTaken) {
  OneRank rank({});  // two ranks, slots of 1440 bytes
  constexpr uint64_t kNumbers = 458752 / 1440;
  PacketHeader header;
  header.op = {1, 0};
  header.elements = 100;
  for (uint64_t number = 0; number < kNumbers; number++) {
    rank.send(1, header, 256);
  }
  EXPECT_EQ(rank.count(Counter::kMismatched), 0u);
  rank.send(1, header, 256);
  EXPECT_EQ(rank.count(Counter::kMismatched), 1u);
}

// docs/semantics.md, Lead.
TEST(Lead, OpsThatOthersAwaitGoUpTo128) {
  Lead lead(4, uint64_t{1} << 30);
  for (int ops = 0; ops < 128; ops++) {
    EXPECT_TRUE(lead.mayBegin(true)) << ops;
    EXPECT_EQ(lead.mayBegin(false), ops < 4) << ops;
    lead.returned(1);
  }
  EXPECT_FALSE(lead.mayBegin(true));
  lead.doneEverywhere(1);
  EXPECT_TRUE(lead.mayBegin(true));
  EXPECT_FALSE(lead.mayBegin(false));
}

TEST(Session, TakesAtMost256OpsFromPeers) {
  OneRank::Setup setup;
  setup.arenaBytes = 64 << 20;
  OneRank rank(setup);
  constexpr uint32_t kMost = 256;
  for (uint32_t tag = 0; tag < kMost; tag++) {
    rank.say(1, {ControlRecord::announce({tag, 0}, floats(100))});
  }
  EXPECT_EQ(rank.session().opsHeld(), kMost);
  EXPECT_EQ(rank.count(Counter::kRefusedAnnounce), 0u);
  rank.say(1, {ControlRecord::announce({kMost, 0}, floats(100))});
  EXPECT_EQ(rank.session().opsHeld(), kMost);
  EXPECT_EQ(rank.count(Counter::kRefusedAnnounce), 1u);
  PacketHeader header;
  header.op = {kMost, 0};
  header.elements = 100;
  rank.send(1, header, 256);
  EXPECT_EQ(rank.session().opsHeld(), kMost);
  EXPECT_EQ(rank.count(Counter::kTooEarly), 1u);
}

}  // namespace
}  // namespace ubt
