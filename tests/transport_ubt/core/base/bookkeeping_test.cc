// SPDX-License-Identifier: Apache-2.0
//
// The small structures of the core, each compared with a plain model.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

#include "transport_ubt/core/base/arena.h"
#include "transport_ubt/core/base/bit_set.h"
#include "transport_ubt/core/link/replay_window.h"
#include "transport_ubt/core/op/shard_layout.h"
#include "transport_ubt/core/pacing/credit.h"

namespace ubt {
namespace {

RC_GTEST_PROP(BitSet, BehavesAsASet, ()) {
  const size_t size = *rc::gen::inRange<size_t>(1, 200);
  BitSet bits(size);
  std::set<size_t> model;
  for (int i = 0; i < 100; i++) {
    const size_t index = *rc::gen::inRange<size_t>(0, size);
    if (*rc::gen::arbitrary<bool>()) {
      RC_ASSERT(bits.set(index) == model.insert(index).second);
    } else {
      RC_ASSERT(bits.clear(index) == (model.erase(index) == 1));
    }
    RC_ASSERT(bits.count() == model.size());
    const size_t from = *rc::gen::inRange<size_t>(0, size + 1);
    const auto next = model.lower_bound(from);
    RC_ASSERT(bits.firstSet(from) == (next == model.end() ? size : *next));
    size_t clear = from;
    while (clear < size && model.count(clear) > 0) {
      clear++;
    }
    RC_ASSERT(bits.firstClear(from) == clear);
  }
}

TEST(ReplayWindow, TakesEachNumberOnceInAnyOrder) {
  ReplayWindow window;
  for (const uint64_t number : {5, 3, 4, 0, 100, 99}) {
    EXPECT_TRUE(window.accept(number)) << number;
    EXPECT_FALSE(window.accept(number)) << number;
  }
  EXPECT_EQ(window.next(), 101u);
}

TEST(ReplayWindow, ForgetsNothingItStillHoldsAndTrustsNothingOlder) {
  ReplayWindow window;
  EXPECT_TRUE(window.accept(0));
  const uint64_t far = 3 * ReplayWindow::kWindow;
  EXPECT_TRUE(window.accept(far));
  EXPECT_FALSE(window.accept(far - ReplayWindow::kWindow));
  EXPECT_TRUE(window.accept(far - ReplayWindow::kWindow + 1));
  EXPECT_FALSE(window.accept(far - ReplayWindow::kWindow + 1));
  EXPECT_FALSE(window.accept(0));
}

RC_GTEST_PROP(ReplayWindow, NeverAcceptsTwice, ()) {
  ReplayWindow window;
  std::set<uint64_t> accepted;
  uint64_t around = 0;
  for (int i = 0; i < 300; i++) {
    around += *rc::gen::inRange<uint64_t>(0, ReplayWindow::kWindow / 2);
    const uint64_t back = *rc::gen::inRange<uint64_t>(0, 100);
    const uint64_t number = around - std::min(back, around);
    const bool fresh = window.accept(number);
    RC_ASSERT(!(fresh && accepted.count(number) > 0));
    RC_ASSERT(fresh || accepted.count(number) > 0 ||
              number + ReplayWindow::kWindow < window.next());
    accepted.insert(number);
  }
}

RC_GTEST_PROP(ShardLayout, SlotsCoverTheBucketOnce, ()) {
  OpShape shape;
  shape.elements = *rc::gen::inRange<uint64_t>(0, 100000);
  shape.type = static_cast<ElementType>(*rc::gen::inRange(0, 4));
  const int ranks = *rc::gen::inRange(1, 65);
  const size_t slotMax = 64 * *rc::gen::inRange<size_t>(1, 500);
  const ShardLayout layout(shape, ranks, slotMax);
  size_t at = 0;
  for (int owner = 0; owner < ranks; owner++) {
    RC_ASSERT(layout.shardSize(Shard(owner)) == 0 ||
              layout.shardOffset(Shard(owner)) == at);
    for (uint32_t slot = 0; slot < layout.slots(Shard(owner)); slot++) {
      RC_ASSERT(layout.shardOffset(Shard(owner)) + layout.slotOffset(slot) ==
                at);
      RC_ASSERT(layout.slotSize(Shard(owner), slot) > 0);
      RC_ASSERT(layout.slotSize(Shard(owner), slot) <= slotMax);
      RC_ASSERT(layout.slotElements(Shard(owner), slot) *
                    elementSize(shape.type) ==
                layout.slotSize(Shard(owner), slot));
      at += layout.slotSize(Shard(owner), slot);
    }
  }
  RC_ASSERT(at == shape.bytes());
}

TEST(Arena, NeverHoldsMoreThanItsLimit) {
  Arena arena(4900);
  std::vector<ArenaBuffer> held;
  for (int i = 0; i < 20; i++) {
    ArenaBuffer buffer = arena.acquire(300);
    EXPECT_EQ(static_cast<bool>(buffer), i < 16);
    if (buffer) {
      held.push_back(std::move(buffer));
    }
  }
  held.clear();
  EXPECT_EQ(arena.usedBytes(), 0u);
  EXPECT_EQ(arena.heldBytes(), 300u);
  // Spare pieces make room for another size.
  ArenaBuffer large = arena.acquire(4800);
  EXPECT_TRUE(large);
  EXPECT_LE(arena.heldBytes(), 4900u);
  EXPECT_FALSE(arena.acquire(200));
}

TEST(Arena, GivesOutReservedRoomWhenThereIsNoOther) {
  Arena arena(1000);
  ArenaBuffer room = arena.reserve(700);
  ArenaBuffer other = arena.acquire(300);
  ArenaBuffer first = arena.acquireFrom(&room, 400);
  ASSERT_TRUE(first);
  first.data()[399] = std::byte{1};
  EXPECT_EQ(room.size(), 300u);
  EXPECT_EQ(arena.usedBytes(), 1000u);
  EXPECT_FALSE(arena.acquireFrom(&room, 400));  // more than is left of it
  EXPECT_EQ(room.size(), 300u);
  EXPECT_TRUE(arena.acquireFrom(&room, 300));
  room.reset();
  EXPECT_EQ(arena.usedBytes(), 700u);  // the second piece is free as well
}

TEST(Arena, ReservedRoomIsMadeOfWarmPieces) {
  Arena arena(16000);
  arena.acquire(400);  // freed at once, and kept warm
  EXPECT_EQ(arena.heldBytes(), 400u);
  ArenaBuffer room = arena.reserve(15500);
  ArenaBuffer piece = arena.acquireFrom(&room, 400);
  EXPECT_TRUE(piece);
  EXPECT_EQ(arena.heldBytes(), 15500u);  // no longer warm in addition
  EXPECT_TRUE(arena.acquire(500));
  EXPECT_FALSE(arena.acquire(501));
}

TEST(Arena, ArenasOfOneBudgetShareTheLimit) {
  ArenaBudget budget;
  Arena one(16000, &budget);
  {
    Arena another(16000, &budget);
    ArenaBuffer large = one.acquire(15000);
    ArenaBuffer first = one.acquire(600);
    ASSERT_TRUE(large && first);
    EXPECT_FALSE(another.acquire(500));
    EXPECT_FALSE(another.reserve(500));
    EXPECT_TRUE(another.acquire(400));  // freed at once, and kept warm
    EXPECT_EQ(budget.heldBytes(), 16000u);
    EXPECT_FALSE(one.acquire(400));
  }
  EXPECT_EQ(budget.heldBytes(), 600u);  // kept warm by `one`
  EXPECT_TRUE(one.acquire(16000));      // too large to be kept warm
  EXPECT_EQ(budget.heldBytes(), 0u);
}

// One that keeps warm pieces cannot know that another needs room.
TEST(Arena, AnIdleOneLeavesNearlyAllRoomToOthers) {
  ArenaBudget budget;
  Arena idle(16000, &budget);
  Arena busy(16000, &budget);
  {
    std::vector<ArenaBuffer> held;
    held.push_back(idle.acquire(9000));
    for (int i = 0; i < 10; i++) {
      held.push_back(idle.acquire(400));
    }
  }
  EXPECT_EQ(idle.usedBytes(), 0u);
  EXPECT_LE(idle.heldBytes(), 1000u);
  EXPECT_TRUE(busy.acquire(15000));
}

TEST(Credit, LimitsOnlyRise) {
  SendCredit send(2);
  EXPECT_TRUE(send.available());
  send.take();
  send.take();
  EXPECT_FALSE(send.available());
  send.raise(1);
  EXPECT_FALSE(send.available());
  send.raise(3);
  EXPECT_TRUE(send.available());
  EXPECT_EQ(send.take(), 2u);
}

TEST(Credit, ReceiverLetsTheSenderBeOneShareAhead) {
  ReceiveCredit receive(4);
  EXPECT_EQ(receive.arrived(0), 0u);
  EXPECT_EQ(receive.arrived(3), 2u);  // 1 and 2 were skipped
  EXPECT_EQ(receive.arrived(1), 0u);
  EXPECT_EQ(receive.left(), 0u);
  receive.grant(4);
  EXPECT_EQ(receive.limit(), 8u);
  receive.grant(2);
  EXPECT_EQ(receive.limit(), 8u);  // never lower
  receive.usedBelow(8);            // 4 to 7 are lost
  receive.grant(2);
  EXPECT_EQ(receive.limit(), 10u);
  receive.usedBelow(1000);  // cannot exceed the granted limit
  receive.grant(2);
  EXPECT_EQ(receive.limit(), 12u);
}

}  // namespace
}  // namespace ubt
