// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/statistics.h"

#include <gtest/gtest.h>

#include "tests/gloo_ext/bounded_ops.h"

namespace gloo_ext {
namespace {

using std::chrono::milliseconds;

TEST(Statistics, BeginWithNothing) {
  const Statistics statistics;
  EXPECT_FALSE(statistics.last().has_value());
  const Statistics::Totals totals = statistics.totals();
  EXPECT_EQ(totals.boundedOps, 0u);
  EXPECT_EQ(totals.p99.count(), 0);
  EXPECT_TRUE(totals.peers.empty());
}

TEST(Statistics, CountACallByHowItWasServed) {
  Statistics statistics;
  statistics.exact();
  for (int i = 0; i < 2; i++) {
    statistics.failed();
  }
  for (int i = 0; i < 3; i++) {
    statistics.add(warmupOp(2));
  }
  for (int i = 0; i < 4; i++) {
    statistics.add(boundedOp(2));
  }
  const Statistics::Totals totals = statistics.totals();
  EXPECT_EQ(totals.exactOps, 1u);
  EXPECT_EQ(totals.failedOps, 2u);
  EXPECT_EQ(totals.warmupOps, 3u);
  EXPECT_EQ(totals.boundedOps, 4u);
  EXPECT_EQ(totals.bytes, 7 * boundedOp(2).bytes);
}

// A warm-up call counts only if something is missing, because it was bounded at
// another rank.
TEST(Statistics, WhateverIsMissingCounts) {
  BoundedOp op = boundedOp(2);
  op.report.pairsExpected = 100;
  op.report.pairsMissing = 7;
  op.report.driftElements = 5;
  Statistics statistics;
  statistics.add(op);
  statistics.add(op);
  op.report.bounded = false;
  statistics.add(op);
  op.report.pairsMissing = op.report.driftElements = 0;
  statistics.add(op);
  const Statistics::Totals totals = statistics.totals();
  EXPECT_EQ(totals.pairsExpected, 300u);
  EXPECT_EQ(totals.pairsMissing, 21u);
  EXPECT_EQ(totals.driftElements, 15u);
}

TEST(Statistics, ACallExpiresInAnyStage) {
  Statistics statistics;
  statistics.add(boundedOp(2));
  BoundedOp scatter = boundedOp(2);
  scatter.report.scatterExpired = true;
  statistics.add(scatter);
  BoundedOp broadcast = boundedOp(2);
  broadcast.report.endedBy = ubt::EndedBy::kBound;
  statistics.add(broadcast);
  BoundedOp exchange = boundedOp(2);
  exchange.report.exchangeExpired = true;
  statistics.add(exchange);
  BoundedOp both = scatter;
  both.report.endedBy = ubt::EndedBy::kBound;
  statistics.add(both);
  EXPECT_EQ(statistics.totals().expiredOps, 4u);
}

TEST(Statistics, AddUpAPeersStages) {
  BoundedOp op = boundedOp(3);
  op.report.scatter[2] = stageBytes();
  op.report.broadcast[2] = stageBytes();
  op.report.broadcast[2].expected = 1000;
  op.report.lateBy = {ubt::Duration{0}, ubt::Duration{0}, ubt::Duration{7}};
  Statistics statistics;
  statistics.add(op);
  statistics.add(op);
  const auto totals = statistics.totals();
  ASSERT_EQ(totals.peers.size(), 2u);  // without itself
  EXPECT_EQ(totals.peers[0].expectedBytes, 0u);
  EXPECT_EQ(totals.peers[1].expectedBytes, 2200u);
  EXPECT_EQ(totals.peers[1].repairedBytes, 40u);
  EXPECT_EQ(totals.peers[1].absentBytes, 80u);
  EXPECT_EQ(totals.peers[1].absentOps, 2u);
  EXPECT_EQ(totals.peers[1].late, ubt::Duration{14});
  EXPECT_EQ(totals.peers[0].absentOps, 0u);
  EXPECT_EQ(totals.peers[1].lateBytes, 44u);
  EXPECT_EQ(totals.peers[1].refusedBytes, 28u);
  EXPECT_EQ(totals.peers[1].lostBytes, 8u);
  EXPECT_EQ(totals.repairedBytes, 40u);
}

// A rank is meaningful only within its context.
TEST(Statistics, TellPeersApartByAddress) {
  BoundedOp group = boundedOp(2);
  group.addresses = std::make_shared<const std::vector<std::string>>(
      std::vector<std::string>{"10.0.0.0:1000", "10.0.0.2:1000"});
  group.report.scatter[1].expected = 5;
  BoundedOp world = boundedOp(3);
  world.report.scatter[1].expected = 70;
  world.report.scatter[2].expected = 700;
  Statistics statistics;
  for (const BoundedOp& op : {group, world, group}) {
    statistics.add(op);
  }
  const auto peers = statistics.totals().peers;
  ASSERT_EQ(peers.size(), 2u);
  EXPECT_EQ(peers[0].address, "10.0.0.1:1000");
  EXPECT_EQ(peers[0].rank, 1);
  EXPECT_EQ(peers[0].expectedBytes, 70u);
  EXPECT_EQ(peers[1].address, "10.0.0.2:1000");
  EXPECT_EQ(peers[1].rank, 2);
  EXPECT_EQ(peers[1].expectedBytes, 710u);
}

TEST(Statistics, KeepTheNewestBoundsOfEachSize) {
  Statistics statistics;
  statistics.add(warmupOp(2));
  for (const size_t bytes : {5000, 300, 8191, 4096}) {
    BoundedOp op = boundedOp(2);
    op.bytes = bytes;
    op.report.boundScatter = std::chrono::nanoseconds(bytes);
    op.report.boundBroadcast = std::chrono::nanoseconds(bytes + 1);
    statistics.add(op);
  }
  const auto bounds = statistics.totals().bounds;
  ASSERT_EQ(bounds.size(), 2u);
  EXPECT_EQ(bounds[0].bytesFrom, 256u);
  EXPECT_EQ(bounds[0].scatter.count(), 300);
  EXPECT_EQ(bounds[1].bytesFrom, 4096u);
  EXPECT_EQ(bounds[1].scatter.count(), 4096);
  EXPECT_EQ(bounds[1].broadcast.count(), 4097);
}

TEST(Statistics, TellOnceThatACallWasSkipped) {
  Statistics statistics;
  EXPECT_FALSE(statistics.skippedSince());
  BoundedOp op = boundedOp(2);
  op.report.skipped = true;
  statistics.add(op);
  statistics.add(boundedOp(2));
  EXPECT_TRUE(statistics.skippedSince());
  EXPECT_FALSE(statistics.skippedSince());
  EXPECT_EQ(statistics.totals().skippedOps, 1u);
}

TEST(Statistics, KeepACallOnTrackedDataUntilItIsForgotten) {
  const float tracked = 0;
  const float other = 0;
  Statistics statistics;
  BoundedOp op = boundedOp(2);
  op.data = &tracked;
  statistics.add(op);
  EXPECT_FALSE(statistics.tracked(&tracked).has_value());
  statistics.track(&tracked);
  EXPECT_FALSE(statistics.tracked(&tracked).has_value());
  op.report.op.count = 1;
  statistics.add(op);
  op.data = &other;
  statistics.add(op);
  ASSERT_TRUE(statistics.tracked(&tracked).has_value());
  EXPECT_EQ(statistics.tracked(&tracked)->report.op.count, 1u);
  EXPECT_FALSE(statistics.tracked(&other).has_value());
  statistics.forget(&tracked);
  EXPECT_FALSE(statistics.tracked(&tracked).has_value());
}

TEST(Statistics, RememberTheLastCall) {
  Statistics statistics;
  for (const uint32_t tag : {7, 8}) {
    BoundedOp op = warmupOp(2);
    op.report.op.tag = tag;
    statistics.add(op);
  }
  ASSERT_TRUE(statistics.last().has_value());
  EXPECT_EQ(statistics.last()->report.op.tag, 8u);
}

TEST(Statistics, PercentilesAreOfBoundedCalls) {
  Statistics statistics;
  BoundedOp slow = warmupOp(2);
  slow.took = std::chrono::hours(1);
  statistics.add(slow);
  for (int ms = 1000; ms >= 1; ms--) {
    BoundedOp op = boundedOp(2);
    op.took = milliseconds(ms);
    statistics.add(op);
  }
  const Statistics::Totals totals = statistics.totals();
  // Definitions of a percentile differ by one sample.
  EXPECT_GE(totals.p50, milliseconds(500));
  EXPECT_LE(totals.p50, milliseconds(501));
  EXPECT_GE(totals.p99, milliseconds(990));
  EXPECT_LE(totals.p99, milliseconds(991));
}

TEST(Statistics, PercentilesForgetOldCalls) {
  Statistics statistics;
  BoundedOp op = boundedOp(2);
  for (const int ms : {50, 3}) {
    op.took = milliseconds(ms);
    for (int i = 0; i < 5000; i++) {
      statistics.add(op);
    }
  }
  EXPECT_EQ(statistics.totals().p99, milliseconds(3));
}

}  // namespace
}  // namespace gloo_ext
