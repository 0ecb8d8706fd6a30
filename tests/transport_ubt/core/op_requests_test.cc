// SPDX-License-Identifier: Apache-2.0
//
// What an op asks for again, when, and when it waits no longer.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/plain_reduction.h"
#include "tests/transport_ubt/core/one_rank.h"
#include "transport_ubt/core/op.h"

namespace ubt {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kSlotBytes = 64;
constexpr Duration kPause = milliseconds(10);

// A session that keeps the requests for results.
class Requests : public OpHost {
 public:
  void control(int peer,
               const ControlRecord& record,
               bool /*urgent*/) override {
    if (record.type == ControlType::kRepair &&
        record.stage == Stage::kBroadcast) {
      all.emplace_back(peer, record);
    }
  }
  Duration retryAfter(int /*peer*/) const override { return kPause; }
  TimePoint lastHeard(int /*peer*/) const override { return {}; }
  bool isSilent(int /*peer*/) const override { return false; }
  std::string silence(int /*peer*/) const override { return {}; }
  bool hearsGroup(int /*peer*/) const override { return false; }
  bool makeRoom(int /*asker*/, size_t /*more*/) override { return false; }

  std::vector<std::pair<int, ControlRecord>> all;
};

// Rank 0's op, whose bounds are far away.
class OpRequests : public ::testing::Test {
 protected:
  static OpBounds farAway() {
    OpBounds bounds;
    bounds.warmup = false;
    bounds.scatter = bounds.broadcast = seconds(10);
    bounds.end = bounds.limit = seconds(100);
    return bounds;
  }
  void begin(int size, uint32_t slots, const OpBounds& bounds) {
    Op::Setup setup;
    setup.id = {5, 0};
    setup.shape = floats(uint64_t{slots} * kSlotBytes / sizeof(float) * size);
    setup.size = size;
    setup.slotBytesMax = kSlotBytes;
    setup.options = &options_;
    setup.reduction = &reduction_;
    setup.arena = &arena_;
    setup.host = &host_;
    bucket_.assign(setup.shape.elements, 1.0F);
    op_ = std::make_unique<Op>(setup, bounds, ArenaBuffer());
    op_->enter(now_, bytesOf(bucket_), Form::kPlain, bounds, ArenaBuffer());
  }
  // A slot of an owner's shard arrives.
  void result(int owner, uint32_t slot) {
    PacketHeader header;
    header.stage = Stage::kBroadcast;
    header.source = static_cast<uint16_t>(owner);
    header.slot = slot;
    header.contributors = 2;
    const std::vector<std::byte> payload(kSlotBytes);
    ASSERT_EQ(op_->data(now_, header, payload.data(), payload.size()),
              Counter::kAcceptedData);
  }
  void pass(Duration time) {
    const TimePoint end = now_ + time;
    while (op_->nextDeadline() <= end) {
      now_ = std::max(now_, op_->nextDeadline());
      op_->deadlinePassed(now_);
    }
    now_ = end;
  }
  // How long from now until the next request for results.
  Duration untilRequest() {
    const TimePoint start = now_;
    host_.all.clear();
    while (host_.all.empty() && op_->nextDeadline() < start + seconds(9)) {
      now_ = std::max(now_, op_->nextDeadline());
      op_->deadlinePassed(now_);
    }
    return now_ - start;
  }

  Options options_ = OneRank::boundedBy(milliseconds(10));
  const Reduction reduction_ = sim::plainReduction();
  Arena arena_{1 << 20};
  Requests host_;
  std::vector<float> bucket_;
  TimePoint now_{seconds(1)};
  std::unique_ptr<Op> op_;
};

// Each result that comes shows that its owner is there: what it owes yet is
// asked for a first pause later, neither sooner nor with a pause that has
// doubled in silence.
TEST_F(OpRequests, BeginAnewWithEachResult) {
  begin(2, 40, farAway());
  untilRequest();
  EXPECT_EQ(untilRequest(), 2 * kPause);
  EXPECT_EQ(untilRequest(), 4 * kPause);
  pass(milliseconds(1));
  result(1, 0);
  EXPECT_EQ(untilRequest(), kPause);
  pass(milliseconds(15));
  result(1, 1);
  EXPECT_EQ(untilRequest(), kPause);
}

TEST_F(OpRequests, NameUpTo16RangesAtATime) {
  begin(2, 40, farAway());
  for (uint32_t slot = 0; slot < 40; slot += 2) {
    result(1, slot);
  }
  untilRequest();
  ASSERT_EQ(host_.all.size(), 16u);
  for (uint32_t i = 0; i < 16; i++) {
    EXPECT_EQ(host_.all[i].second.slot, 2 * i + 1);
    EXPECT_EQ(host_.all[i].second.slots, 1u);
  }
  for (uint32_t slot = 1; slot < 32; slot += 2) {
    result(1, slot);
  }
  untilRequest();
  EXPECT_EQ(host_.all.size(), 4u);
}

// Where nothing is repeated, an op ends once more than half of all ranks are
// done with it: half are not enough.
TEST_F(OpRequests, AreNoneWhereMostRanksAreDone) {
  options_.repair = RepairPolicy::kNone;
  OpBounds bounds = farAway();
  bounds.scatterPatience = bounds.broadcastPatience = milliseconds(1);
  begin(4, 1, bounds);
  op_->done(now_, 1);
  op_->done(now_, 2);
  op_->done(now_, 2);  // said again
  pass(milliseconds(100));
  EXPECT_FALSE(op_->finished());
  op_->done(now_, 3);
  pass(milliseconds(100));
  EXPECT_TRUE(op_->finished());
  EXPECT_EQ(op_->leave(now_).endedBy, EndedBy::kEarly);
  EXPECT_TRUE(host_.all.empty());
}

}  // namespace
}  // namespace ubt
