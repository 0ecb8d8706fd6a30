// SPDX-License-Identifier: Apache-2.0
//
// The credit that a session gives under the paper's loops (Incast).

#include <gtest/gtest.h>

#include <optional>

#include "tests/transport_ubt/core/one_rank.h"

namespace ubt {
namespace {

// The number of the last credit that goes to a peer now; none: it gets none.
std::optional<uint64_t> creditTo(OneRank* rank, int peer) {
  std::optional<uint64_t> number;
  for (const OneRank::Sent& sent : rank->sent()) {
    for (const ControlRecord& record : OneRank::recordsIn(sent.packet)) {
      if (sent.packet.peer == peer && record.type == ControlType::kCredit) {
        number = record.number;
      }
    }
  }
  return number;
}

ControlRecord blockedAt(uint64_t number) {
  ControlRecord record;
  record.type = ControlType::kBlocked;
  record.number = number;
  return record;
}

TEST(SessionIncast, OnlyThePapersLoopsAdvertiseIt) {
  for (const Loops loops : {Loops::kMeasured, Loops::kPaper}) {
    OneRank::Setup setup;
    setup.size = 3;
    setup.options.loops = loops;
    OneRank rank(setup);
    rank.say(1, {blockedAt(0)});
    const auto credit = creditTo(&rank, 1);
    ASSERT_TRUE(credit);
    EXPECT_EQ(*credit >> ControlRecord::kIncastShift,
              loops == Loops::kPaper ? 1u : 0u);
  }
}

// Both have used up their first credit. Rank 2 serves rank 0 first, so it has
// the turn, and rank 1 gets a single slot.
TEST(SessionIncast, OneSenderAtATimeHoldsMoreThanASlotOfCredit) {
  OneRank::Setup setup;
  setup.size = 3;
  setup.options.loops = Loops::kPaper;
  OneRank rank(setup);
  OpShape shape = floats(3 * 360 * 100);  // shards of 100 slots
  shape.fingerprint = setup.options.fingerprint();
  std::vector<float> bucket(shape.elements, 1);
  for (const int peer : {1, 2}) {
    rank.say(peer, {ControlRecord::announce({0, 0}, shape)});
  }
  constexpr uint64_t kFirst = 1 << 20;  // more than the first credit
  rank.session().enter(rank.now, 0, shape, bytesOf(bucket));
  rank.sent();
  constexpr uint64_t kLimit = (uint64_t{1} << ControlRecord::kIncastShift) - 1;
  rank.say(2, {blockedAt(kFirst)});
  const auto first = creditTo(&rank, 2);
  rank.say(1, {blockedAt(kFirst)});
  const auto second = creditTo(&rank, 1);
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  // The same first credit, and then a turn's against one slot.
  EXPECT_GT(*first & kLimit, (*second & kLimit) + 1);
  EXPECT_EQ(*second >> ControlRecord::kIncastShift, 1u);
}

}  // namespace
}  // namespace ubt
