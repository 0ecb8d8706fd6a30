// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/message_tail.h"

#include <gtest/gtest.h>

#include <vector>

#include "transport_ubt/core/op/shard_layout.h"

namespace ubt {
namespace {

constexpr size_t kSlotBytes = 1024;
constexpr uint32_t kElements = 100 * 1024;  // 400 KiB: 100 slots for each of 4
constexpr int kPeer = 2;

MessageTail::Context context() {
  return {77, 1, 4, kSlotBytes};
}

PacketHeader slotOf(Stage stage, uint32_t slot, uint32_t count = 0) {
  PacketHeader header;
  header.type = PacketType::kData;
  header.stage = stage;
  header.op.tag = 5;
  header.op.count = count;
  header.slot = slot;
  header.elements = stage == Stage::kScatter ? kElements : 0;
  return header;
}

// The slots of a message of 100 that belong to the tail.
std::vector<uint32_t> heldOf(MessageTail* tail, Stage stage) {
  std::vector<uint32_t> held;
  for (uint32_t slot = 0; slot < 100; slot++) {
    if (tail->holds(context(), kPeer, slotOf(stage, slot))) {
      held.push_back(slot);
    }
  }
  return held;
}

TEST(MessageTail, HoldsTheLastSlotsOfBothStages) {
  MessageTail tail(0.03);
  const std::vector<uint32_t> last{97, 98, 99};
  EXPECT_EQ(heldOf(&tail, Stage::kScatter), last);
  EXPECT_EQ(heldOf(&tail, Stage::kBroadcast), last);
}

TEST(MessageTail, HoldsAllOrNothingIfAsked) {
  MessageTail nothing(0);
  EXPECT_TRUE(heldOf(&nothing, Stage::kScatter).empty());
  MessageTail all(1);
  EXPECT_EQ(heldOf(&all, Stage::kScatter).size(), 100u);
}

TEST(MessageTail, CountsTheSlotsOfAShortShard) {
  auto small = context();
  small.slotBytesMax = ShardLayout::kSlotStep;
  OpShape shape;
  shape.elements = 4 * 1600 - 16;  // the last shard is 64 bytes shorter
  const ShardLayout layout(shape, small.size, small.slotBytesMax);
  ASSERT_EQ(layout.slots(Shard(0)), 200u);
  ASSERT_EQ(layout.slots(Shard(3)), 198u);
  MessageTail tail(0.005);
  auto slot = slotOf(Stage::kScatter, 197);
  slot.elements = static_cast<uint32_t>(shape.elements);
  EXPECT_TRUE(tail.holds(small, 3, slot));
  EXPECT_FALSE(tail.holds(small, 0, slot));
}

TEST(MessageTail, PassesDatagramsWithoutAPlaceInAMessage) {
  MessageTail tail(1);
  // A result of an op with unknown length.
  EXPECT_FALSE(tail.holds(context(), kPeer, slotOf(Stage::kBroadcast, 99)));
  auto again = slotOf(Stage::kScatter, 99);
  again.repair = true;
  EXPECT_FALSE(tail.holds(context(), kPeer, again));
  auto grouped = slotOf(Stage::kScatter, 99);
  grouped.hierarchical = true;
  EXPECT_FALSE(tail.holds(context(), kPeer, grouped));
  auto control = slotOf(Stage::kScatter, 99);
  control.type = PacketType::kControl;
  EXPECT_FALSE(tail.holds(context(), kPeer, control));
}

TEST(MessageTail, ForgetsTheOldestOps) {
  MessageTail tail(1);
  for (uint32_t count = 0; count <= MessageTail::kOpsMax; count++) {
    tail.holds(context(), kPeer, slotOf(Stage::kScatter, 0, count));
  }
  EXPECT_FALSE(tail.holds(context(), kPeer, slotOf(Stage::kBroadcast, 99, 0)));
  EXPECT_TRUE(tail.holds(context(), kPeer, slotOf(Stage::kBroadcast, 99, 1)));
}

}  // namespace
}  // namespace ubt
