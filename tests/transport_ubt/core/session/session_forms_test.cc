// SPDX-License-Identifier: Apache-2.0
//
// When a call's shards are transformed, and when they become plain again.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/transport_ubt/core/one_rank.h"
#include "transport_ubt/core/op/op.h"
#include "transport_ubt/core/session/session.h"

namespace ubt {
namespace {

// Two ranks, shards of 1,440 floats in four slots each.
class SessionForms : public ::testing::Test {
 protected:
  static constexpr size_t kShard = 1440;
  static constexpr uint32_t kSlots = 4;

  static OneRank::Setup setup() {
    OneRank::Setup setup;
    setup.options.hadamard = Hadamard::kAlways;
    setup.options.repair = RepairPolicy::kNone;
    return setup;
  }
  void enter() {
    const OpShape shape = floats(2 * kShard);
    rank_.say(1, {ControlRecord::announce({0, 0}, shape)});
    rank_.session().enter(rank_.now, 0, shape, bytesOf(bucket_));
  }
  // Whether the shard still has the caller's ones.
  bool untouched(int shard) const {
    const auto begin = bucket_.begin() + shard * kShard;
    return std::all_of(
        begin, begin + kShard, [](float value) { return value == 1; });
  }
  // Rank 1's result: twos, transformed.
  static std::vector<float> coefficients() {
    std::vector<float> shard(kShard, 2.0F);
    EXPECT_TRUE(sim::plainReduction().transform(ElementType::kFloat32,
                                                bytesOf(shard),
                                                kShard,
                                                transformSeed({}, 1),
                                                2));
    return shard;
  }
  // Slots of that result arrive.
  void results(uint32_t from, uint32_t to) {
    std::vector<float> shard = coefficients();
    const size_t bytes = OneRank::Setup().slotBytes;
    PacketHeader header;
    header.stage = Stage::kBroadcast;
    header.form = Form::kTransformed;
    header.elements = 2 * kShard;
    header.contributors = 2;
    for (header.slot = from; header.slot < to; header.slot++) {
      const std::byte* const slot = bytesOf(shard) + header.slot * bytes;
      rank_.send(1, header, std::vector<std::byte>(slot, slot + bytes));
    }
  }
  bool holdsTheResult() const {
    return std::all_of(bucket_.begin() + kShard,
                       bucket_.end(),
                       [](float value) { return std::abs(value - 2) < 1e-5F; });
  }

  OneRank rank_{setup()};
  std::vector<float> bucket_ = std::vector<float>(2 * kShard, 1.0F);
};

TEST_F(SessionForms, AShardIsTransformedWhenItIsFirstSent) {
  enter();
  EXPECT_FALSE(untouched(0));  // the own one: others' are added to it
  EXPECT_TRUE(untouched(1));
  rank_.sent();
  EXPECT_FALSE(untouched(1));
}

TEST_F(SessionForms, AResultIsPlainAsSoonAsItIsComplete) {
  enter();
  results(0, kSlots);
  EXPECT_TRUE(holdsTheResult());
  rank_.at(rank_.now + std::chrono::seconds(1));
  ASSERT_TRUE(rank_.session().finished({0, 0}));
  const OpReport report = rank_.session().leave(rank_.now, {0, 0});
  EXPECT_EQ(report.forms[1], Form::kTransformed);
  EXPECT_TRUE(holdsTheResult());
}

// The last slot of the result never arrives. Its coefficients are zero, and
// this changes every element a little.
TEST_F(SessionForms, MissingCoefficientsAreZero) {
  enter();
  results(0, kSlots - 1);
  EXPECT_FALSE(untouched(1));
  rank_.at(rank_.now + std::chrono::seconds(1));
  ASSERT_TRUE(rank_.session().finished({0, 0}));
  rank_.session().leave(rank_.now, {0, 0});
  std::vector<float> expected = coefficients();
  std::fill(
      expected.begin() + (kSlots - 1) * kShard / kSlots, expected.end(), 0.0F);
  sim::plainReduction().inverse(
      ElementType::kFloat32, bytesOf(expected), kShard, transformSeed({}, 1));
  for (size_t i = 0; i < kShard; i++) {
    EXPECT_NEAR(bucket_[kShard + i], expected[i], 1e-5) << i;
  }
  EXPECT_FALSE(holdsTheResult());
}

}  // namespace
}  // namespace ubt
