// SPDX-License-Identifier: Apache-2.0
//
// How long a session lets stages take.

#include <gtest/gtest.h>

#include "tests/transport_ubt/core/one_rank.h"
#include "transport_ubt/core/session/session.h"

namespace ubt {
namespace {

// The header of a contribution to the first op of tag 0.
PacketHeader firstOp(const OpShape& shape) {
  PacketHeader header;
  header.op = {0, 0};
  header.elements = shape.elements;
  return header;
}

// A contribution of rank 1 is lost; no rank waits for it after the scatter
// stage. Rank 2 stops before it sends its results.
TEST(SessionBounds, AtTheTimeoutOnlyThoseThatOweResultsAreNamed) {
  OneRank::Setup setup;
  setup.size = 3;
  OneRank rank(setup);
  const OpShape shape = floats(48);  // three shards of one slot
  std::vector<float> bucket(shape.elements, 1);
  PacketHeader header = firstOp(shape);
  for (int peer = 1; peer < 3; peer++) {
    rank.say(peer, {ControlRecord::announce(header.op, shape)});
  }
  rank.session().enter(rank.now, 0, shape, bytesOf(bucket));
  rank.send(2, header, 64);
  header.stage = Stage::kBroadcast;
  header.contributors = 3;
  rank.send(1, header, 64);
  rank.at(rank.now + setup.options.timeout);
  ASSERT_TRUE(rank.session().finished(header.op));
  const std::string& why = rank.session().failure(header.op);
  EXPECT_NE(why.find("rank 2 did not deliver"), std::string::npos) << why;
  EXPECT_EQ(why.find("rank 1"), std::string::npos) << why;
}

// Ranks 2 and 3 of four never enter. Rank 1 has entered and waits for them,
// too.
TEST(SessionBounds, AtTheTimeoutARankThatWaitsForAbsentOnesIsNotNamed) {
  for (const uint32_t warmupOps : {0, 1}) {
    OneRank::Setup setup;
    setup.size = 4;
    setup.options.warmupOps = warmupOps;
    OneRank rank(setup);
    const OpShape shape = floats(64);  // four shards of one slot
    std::vector<float> bucket(shape.elements, 1);
    PacketHeader header = firstOp(shape);
    rank.say(1, {ControlRecord::announce(header.op, shape)});
    rank.send(1, header, 64);
    rank.session().enter(rank.now, 0, shape, bytesOf(bucket));
    rank.at(rank.now + setup.options.timeout);
    ASSERT_TRUE(rank.session().finished(header.op));
    const std::string& why = rank.session().failure(header.op);
    EXPECT_NE(why.find("rank 2 has not entered"), std::string::npos) << why;
    EXPECT_NE(why.find("rank 3 has not entered"), std::string::npos) << why;
    EXPECT_EQ(why.find("rank 1"), std::string::npos) << why;
  }
}

// The rank that this rank blames for the job's failure, or -1.
int culpritTold(OneRank& rank) {
  for (const OneRank::Sent& sent : rank.sent()) {
    for (const ControlRecord& record : OneRank::recordsIn(sent.packet)) {
      if (record.type == ControlType::kLeave) {
        return static_cast<int>(record.slot);
      }
    }
  }
  return -1;
}

// In warm-up rank 1 cannot deliver its results, because it lacks rank 2's
// contributions. Rank 1 still answers.
TEST(SessionBounds, TheRankThatHasBeenSilentLongestIsTheCulprit) {
  OneRank::Setup setup;
  setup.size = 3;
  setup.options.warmupOps = 1;
  setup.options.boundScatter = setup.options.boundBroadcast = Duration{0};
  OneRank rank(setup);
  const OpShape shape = floats(48);
  std::vector<float> bucket(shape.elements, 1);
  PacketHeader header = firstOp(shape);
  const TimePoint entered = rank.now;
  for (int peer = 1; peer < 3; peer++) {
    rank.say(peer, {ControlRecord::announce(header.op, shape)});
    rank.send(peer, header, 64);
  }
  rank.session().enter(rank.now, 0, shape, bytesOf(bucket));
  rank.at(entered + setup.options.timeout / 2);
  rank.say(1, {ControlRecord::announce(header.op, shape)});
  while (!rank.session().finished(header.op)) {
    rank.at(rank.endpoint().nextDeadline());
  }
  EXPECT_EQ(rank.now, entered + setup.options.timeout);
  rank.session().leave(rank.now, header.op);
  EXPECT_EQ(culpritTold(rank), 2);
}

// Neither rank has finished the op that uses up the lead; rank 1 answers.
TEST(SessionBounds, TheRankThatHoldsUpTheLeadIsTheOneSilentLongest) {
  OneRank::Setup setup;
  setup.size = 3;
  setup.options.leadOps = 1;
  OneRank rank(setup);
  const OpShape shape = floats(48);
  std::vector<float> bucket(shape.elements, 1);
  PacketHeader header = firstOp(shape);
  header.contributors = 3;
  rank.session().enter(rank.now, 0, shape, bytesOf(bucket));
  for (int peer = 1; peer < 3; peer++) {
    rank.say(peer, {ControlRecord::announce(header.op, shape)});
    header.stage = Stage::kScatter;
    rank.send(peer, header, 64);
    header.stage = Stage::kBroadcast;
    rank.send(peer, header, 64);
  }
  ASSERT_TRUE(rank.session().finished(header.op));
  rank.session().leave(rank.now, header.op);
  const OpId next = rank.session().enter(rank.now, 0, shape, bytesOf(bucket));
  const TimePoint entered = rank.now;
  rank.at(entered + setup.options.timeout / 2);
  rank.say(1, {ControlRecord::announce(header.op, shape)});
  rank.at(entered + setup.options.timeout);
  ASSERT_TRUE(rank.session().finished(next));
  const std::string& why = rank.session().failure(next);
  EXPECT_NE(why.find("rank 2 has not finished"), std::string::npos) << why;
}

}  // namespace
}  // namespace ubt
