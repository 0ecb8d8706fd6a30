// SPDX-License-Identifier: Apache-2.0
//
// What a session does about what its peers say, honest or not.

#include "transport_ubt/core/session.h"

#include <gtest/gtest.h>

#include "tests/transport_ubt/core/one_rank.h"

namespace ubt {
namespace {

OpShape floats(uint64_t elements) {
  OpShape shape;
  shape.elements = elements;
  shape.fingerprint = Options().fingerprint();
  return shape;
}

std::byte* bytesOf(std::vector<float>& values) {
  return reinterpret_cast<std::byte*>(values.data());
}

// Memory ---------------------------------------------------------------------

TEST(Session, AnOpTooLargeForTheArenaDoesNotBegin) {
  OneRank rank({});
  OpShape huge = floats(UINT32_MAX);
  huge.type = ElementType::kFloat64;
  rank.say(1, {ControlRecord::announce({1, 0}, huge)});
  EXPECT_EQ(rank.session().opsHeld(), 0u);
  PacketHeader header;
  header.op = {2, 0};
  header.elementType = huge.type;
  header.elements = UINT32_MAX;
  rank.send(1, header, 1408);
  EXPECT_EQ(rank.session().opsHeld(), 0u);
  EXPECT_EQ(rank.count(Counter::kArenaFull), 1u);
  EXPECT_EQ(rank.arena().usedBytes(), 0u);
}

TEST(Session, OpsThatPeersBeginTakeRoomUntilTheCallerComes) {
  OneRank rank({});
  const OpShape shape = floats(10000);
  rank.say(1, {ControlRecord::announce({0, 0}, shape)});
  EXPECT_GT(rank.arena().usedBytes(), sizeof(Op));
  std::vector<float> bucket(shape.elements, 1);
  rank.session().enter(rank.now, 0, shape, bytesOf(bucket));
  EXPECT_EQ(rank.arena().usedBytes(), 0u);
}

// A caller's own op needs nobody's permission.
TEST(Session, AFullArenaKeepsNoCallerOut) {
  OneRank::Setup setup;
  setup.arenaBytes = 64;
  OneRank rank(setup);
  const OpShape shape = floats(10000);
  std::vector<float> bucket(shape.elements, 1);
  const OpId id = rank.session().enter(rank.now, 0, shape, bytesOf(bucket));
  rank.at(rank.now + std::chrono::milliseconds(100));
  EXPECT_TRUE(rank.session().finished(id));
  EXPECT_TRUE(rank.session().failure(id).empty());
}

}  // namespace
}  // namespace ubt
