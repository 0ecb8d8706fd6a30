// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/transport_ubt/core/one_rank.h"
#include "transport_ubt/core/op/op.h"
#include "transport_ubt/sim/plain_reduction.h"

namespace ubt {

// A session that records an op's requests for missing slots, and some reports.
class Requests : public OpHost {
 public:
  static constexpr Duration kPause = std::chrono::milliseconds(10);
  static constexpr Duration kLossAfter = std::chrono::milliseconds(3);
  static constexpr Duration kLossAfterTrip = std::chrono::milliseconds(1);

  void control(TimePoint /*now*/,
               int peer,
               const ControlRecord& record,
               bool /*urgent*/) override {
    if (record.type == ControlType::kRepair) {
      all.emplace_back(peer, record);
    } else if (record.type == ControlType::kHalf) {
      halves.emplace_back(peer, record.stage);
    } else if (record.type == ControlType::kLostSlots) {
      lost.emplace_back(peer, record);
    } else if (record.type == ControlType::kClosed) {
      closed.push_back(peer);
    }
  }
  Duration retryAfter(TimePoint /*now*/, int /*peer*/) const override {
    return kPause;
  }
  Duration lossAfter(TimePoint /*now*/, int /*peer*/) const override {
    return kLossAfter;
  }
  Duration lossAfterTrip(TimePoint /*now*/, int /*peer*/) const override {
    return kLossAfterTrip;
  }
  TimePoint lastHeard(int /*peer*/) const override { return {}; }
  bool isSilent(int /*peer*/) const override { return false; }
  std::string silence(int /*peer*/) const override { return {}; }
  bool hearsMulticast(int /*peer*/) const override { return false; }
  bool makeRoom(int /*asker*/, size_t /*more*/) override { return false; }
  void warn(const std::string& text) override { warnings.push_back(text); }

  std::vector<std::pair<int, ControlRecord>> all;
  // Reports that half of a stage's senders are complete.
  std::vector<std::pair<int, Stage>> halves;
  // Reports that slots were lost.
  std::vector<std::pair<int, ControlRecord>> lost;
  // Ranks that were told that their contributions come too late.
  std::vector<int> closed;
  std::vector<std::string> warnings;
};

// One op of rank 0, without a session. Its shards have slots of kSlotBytes.
class OneOp : public ::testing::Test {
 protected:
  static constexpr size_t kSlotBytes = 64;

  // Stages wait for their data for ten seconds.
  static OpBounds farAway() {
    OpBounds bounds;
    bounds.rule = OpBounds::Rule::kLearned;
    bounds.stop.usual = bounds.resultsStop.usual = std::chrono::seconds(10);
    bounds.limit = std::chrono::seconds(100);
    return bounds;
  }
  // The op begins at another rank: its own caller has not entered.
  void begin(int size, uint32_t slots, const OpBounds& bounds) {
    Op::Setup setup;
    setup.id = {5, 0};
    setup.shape = floats(uint64_t{slots} * kSlotBytes / sizeof(float) * size);
    setup.options = &options_;
    setup.reduction = &reduction_;
    setup.arena = &arena_;
    setup.host = &host_;
    bounds_ = bounds;
    bucket_.assign(setup.shape.elements, 1.0F);
    op_ = std::make_unique<Op>(
        setup,
        OpParts(setup.shape, {0, size, kSlotBytes, nullptr}),
        bounds,
        ArenaBuffer());
  }
  void enter() {
    op_->enter(now_, bytesOf(bucket_), Form::kPlain, bounds_, ArenaBuffer());
  }
  // A contribution to a slot of the own shard arrives.
  void contribution(int rank,
                    uint32_t slot,
                    bool marked,
                    Counter counted = Counter::kAcceptedData) {
    PacketHeader header;
    header.stage = Stage::kScatter;
    header.source = static_cast<uint16_t>(rank);
    header.slot = slot;
    header.lastPercentile = marked;
    header.elements = op_->shape().elements;
    arrives(header, counted);
  }
  // A slot of an owner's shard arrives.
  void result(int owner, uint32_t slot, bool marked = false) {
    PacketHeader header;
    header.stage = Stage::kBroadcast;
    header.source = static_cast<uint16_t>(owner);
    header.slot = slot;
    header.contributors = 2;
    header.lastPercentile = marked;
    arrives(header, Counter::kAcceptedData);
  }
  void pass(Duration time) {
    const TimePoint end = now_ + time;
    while (op_->nextDeadline() <= end) {
      now_ = std::max(now_, op_->nextDeadline());
      op_->deadlinePassed(now_);
    }
    now_ = end;
  }

  Options options_;
  const Reduction reduction_ = sim::plainReduction();
  Arena arena_{1 << 20};
  Requests host_;
  OpBounds bounds_;
  std::vector<float> bucket_;
  TimePoint now_{std::chrono::seconds(1)};
  std::unique_ptr<Op> op_;

 private:
  void arrives(const PacketHeader& header, Counter counted) {
    const std::vector<std::byte> payload(kSlotBytes);
    ASSERT_EQ(op_->data(now_, header, payload.data(), payload.size()), counted);
  }
};

}  // namespace ubt
