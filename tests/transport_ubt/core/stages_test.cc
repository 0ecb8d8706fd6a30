// SPDX-License-Identifier: Apache-2.0
//
// An owner's and a receiver's part in one op, with hand-computed sums.

#include <gtest/gtest.h>

#include <vector>

#include "tests/sim/plain_reduction.h"
#include "transport_ubt/core/broadcast_stage.h"
#include "transport_ubt/core/scatter_stage.h"

namespace ubt {
namespace {

constexpr int kRanks = 3;
constexpr size_t kSlotBytes = 64;         // 16 floats
constexpr size_t kElements = 3 * 2 * 16;  // two slots a shard

class Stages : public ::testing::Test {
 protected:
  static OpShape shape() {
    OpShape shape;
    shape.elements = kElements;
    return shape;
  }
  static std::vector<float> slot(float value) {
    return std::vector<float>(16, value);
  }
  static const std::byte* bytes(const std::vector<float>& values) {
    return reinterpret_cast<const std::byte*>(values.data());
  }
  ScatterStage::Outcome add(int source, uint32_t index, float value) {
    return scatter_.add(source, index, bytes(slot(value)));
  }
  float value(uint32_t index) const {
    return *reinterpret_cast<const float*>(scatter_.value(index));
  }
  std::byte* enterWith(float value) {
    bucket_.assign(kElements, value);
    return reinterpret_cast<std::byte*>(bucket_.data());
  }

  const Reduction reduction_ = sim::plainReduction();
  Arena arena_{1 << 20};
  const ShardLayout layout_{shape(), kRanks, kSlotBytes};
  // Rank 1 of three.
  ScatterStage scatter_{
      layout_, ElementType::kFloat32, 1, kRanks, reduction_, &arena_};
  BroadcastStage broadcast_{layout_, 1, kRanks, &arena_};
  std::vector<float> bucket_;
};

using Outcome = ScatterStage::Outcome;

TEST_F(Stages, ASlotClosesWhenEveryoneIsInIt) {
  std::byte* const bucket = enterWith(1);
  scatter_.enter(bucket + layout_.shardOffset(1));
  EXPECT_EQ(add(0, 0, 10), Outcome::kAccepted);
  EXPECT_FALSE(scatter_.isClosed(0));
  EXPECT_EQ(add(0, 0, 10), Outcome::kDuplicate);
  EXPECT_EQ(add(2, 0, 100), Outcome::kAccepted);
  EXPECT_TRUE(scatter_.isClosed(0));
  EXPECT_EQ(value(0), 111);
  EXPECT_EQ(bucket_[32], 111);  // in the caller's own memory
  EXPECT_FALSE(scatter_.closed());
}

TEST_F(Stages, ContributionsBeforeTheCallerWaitInTheArena) {
  EXPECT_EQ(add(0, 1, 10), Outcome::kAccepted);
  EXPECT_GT(arena_.usedBytes(), 0u);
  scatter_.enter(enterWith(1) + layout_.shardOffset(1));
  EXPECT_EQ(arena_.usedBytes(), 0u);
  EXPECT_EQ(add(2, 1, 100), Outcome::kAccepted);
  EXPECT_EQ(value(1), 111);
}

TEST_F(Stages, AtTheBoundWhatIsThereIsRescaledAndFinal) {
  EXPECT_EQ(add(0, 0, 10), Outcome::kAccepted);
  scatter_.closeAll();
  EXPECT_EQ(value(0), 30);  // 3 / 1 contributors
  EXPECT_EQ(scatter_.contributors(1), 0);
  EXPECT_EQ(add(2, 0, 100), Outcome::kLate);
  // The owner's own late data does not count either.
  scatter_.enter(enterWith(1) + layout_.shardOffset(1));
  EXPECT_EQ(bucket_[32], 30);
  EXPECT_EQ(bucket_[48], 0);  // nobody in time: an agreed zero
  EXPECT_FALSE(scatter_.contributed(1).test(0));
}

TEST_F(Stages, WhatPeersLackIsKeptWhenTheCallerLeaves) {
  scatter_.enter(enterWith(1) + layout_.shardOffset(1));
  scatter_.closeAll();
  EXPECT_TRUE(scatter_.leave(1));
  bucket_.assign(kElements, -1);  // the caller goes on with its memory
  EXPECT_EQ(scatter_.value(0), nullptr);
  EXPECT_EQ(value(1), 3);
}

TEST_F(Stages, AFullArenaIsToldNotExceeded) {
  Arena small(kSlotBytes);
  ScatterStage scatter(
      layout_, ElementType::kFloat32, 1, kRanks, reduction_, &small);
  EXPECT_EQ(scatter.add(0, 0, bytes(slot(1))), Outcome::kAccepted);
  EXPECT_EQ(scatter.add(0, 1, bytes(slot(1))), Outcome::kArenaFull);
  EXPECT_FALSE(scatter.contributed(0).test(1));
}

TEST_F(Stages, ResultsLandInTheBucketEarlyOnesToo) {
  EXPECT_EQ(broadcast_.add(0, 0, 3, bytes(slot(7))),
            BroadcastStage::Outcome::kAccepted);
  broadcast_.enter(enterWith(1));
  EXPECT_EQ(bucket_[0], 7);
  EXPECT_EQ(bucket_[16], 1);
  EXPECT_EQ(broadcast_.add(0, 0, 3, bytes(slot(8))),
            BroadcastStage::Outcome::kDuplicate);
  EXPECT_EQ(bucket_[0], 7);
  EXPECT_EQ(broadcast_.add(2, 1, 2, bytes(slot(9))),
            BroadcastStage::Outcome::kAccepted);
  EXPECT_EQ(bucket_[80], 9);
  EXPECT_EQ(broadcast_.pairsMissing(), 16u);
  EXPECT_EQ(broadcast_.add(2, 0, 0, nullptr),
            BroadcastStage::Outcome::kAccepted);
  EXPECT_EQ(bucket_[64], 0);
}

TEST_F(Stages, MissingResultsAreFilledAndTold) {
  broadcast_.enter(enterWith(2));
  broadcast_.add(0, 0, 3, bytes(slot(7)));
  broadcast_.add(0, 1, 3, bytes(slot(7)));
  broadcast_.add(2, 0, 3, bytes(slot(7)));
  EXPECT_FALSE(broadcast_.complete());
  const auto filled =
      broadcast_.fillMissing(Fill::kLocal, ElementType::kFloat32, reduction_);
  ASSERT_EQ(filled.size(), 1u);
  EXPECT_EQ(filled[0].offset, 80u);
  EXPECT_EQ(filled[0].count, 16u);
  EXPECT_EQ(bucket_[80], 6);  // three times the own contribution
  EXPECT_EQ(bucket_[32], 2);  // the own shard is not its business
}

TEST_F(Stages, EarlyResultsCanBeDroppedAndAskedForAgain) {
  broadcast_.add(0, 0, 2, bytes(slot(7)));
  EXPECT_EQ(broadcast_.dropEarly(), kSlotBytes);
  EXPECT_EQ(arena_.usedBytes(), 0u);
  EXPECT_FALSE(broadcast_.received(0).test(0));
  EXPECT_EQ(broadcast_.pairsMissing(), 0u);
}

}  // namespace
}  // namespace ubt
