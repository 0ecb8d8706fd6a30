// SPDX-License-Identifier: Apache-2.0
//
// An owner's and a receiver's part in one op, with hand-computed sums.

#include <gtest/gtest.h>

#include <vector>

#include "transport_ubt/core/op/broadcast_stage.h"
#include "transport_ubt/core/op/replica_proof.h"
#include "transport_ubt/core/op/scatter_stage.h"
#include "transport_ubt/sim/plain_reduction.h"

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
    return scatter_.add(source, index, Form::kPlain, bytes(slot(value)));
  }
  float value(uint32_t index) const {
    return *reinterpret_cast<const float*>(scatter_.value(index));
  }
  std::byte* enterWith(float value) {
    bucket_.assign(kElements, value);
    return reinterpret_cast<std::byte*>(bucket_.data());
  }

  ScatterStage scatterBy(SumOrder order) { return scatterBy(order, &arena_); }
  ScatterStage scatterBy(SumOrder order, Arena* arena) {
    return {layout_,
            {ElementType::kFloat32, 1, kRanks, order, 0, &reduction_, arena}};
  }

  const Reduction reduction_ = sim::plainReduction();
  Arena arena_{1 << 20};
  const ShardLayout layout_{shape(), kRanks, kSlotBytes};
  // Rank 1 of three.
  ScatterStage scatter_ = scatterBy(SumOrder::kArrival);
  BroadcastStage broadcast_{layout_, Shard(1), kRanks, kRanks, &arena_};
  std::vector<float> bucket_;
};

using Outcome = ScatterStage::Outcome;

TEST_F(Stages, ASlotClosesWhenEveryoneIsInIt) {
  std::byte* const bucket = enterWith(1);
  scatter_.enter(bucket + layout_.shardOffset(Shard(1)), Form::kPlain);
  EXPECT_EQ(add(0, 0, 10), Outcome::kAccepted);
  EXPECT_FALSE(scatter_.isClosed(0));
  EXPECT_EQ(add(0, 0, 10), Outcome::kDuplicate);
  EXPECT_EQ(add(2, 0, 100), Outcome::kAccepted);
  EXPECT_TRUE(scatter_.isClosed(0));
  EXPECT_EQ(value(0), 111);
  EXPECT_EQ(bucket_[32], 111);  // in the caller's own memory
  EXPECT_FALSE(scatter_.closed());
}

TEST_F(Stages, ASlotClosesWhenTheOthersAreLost) {
  for (const SumOrder order : {SumOrder::kArrival, SumOrder::kRank}) {
    ScatterStage scatter = scatterBy(order);
    const auto add = [&](int source, uint32_t index, float value) {
      return scatter.add(source, index, Form::kPlain, bytes(slot(value)));
    };
    scatter.enter(enterWith(1) + layout_.shardOffset(Shard(1)), Form::kPlain);
    EXPECT_EQ(add(0, 0, 10), Outcome::kAccepted);
    scatter.lose(0);
    EXPECT_FALSE(scatter.isClosed(0));  // nothing of rank 2 is known
    EXPECT_EQ(add(2, 1, 100), Outcome::kAccepted);
    scatter.lose(1);
    EXPECT_TRUE(scatter.isClosed(1));
    EXPECT_EQ(bucket_[48], 151.5F);  // 101 x 3 / 2
    EXPECT_EQ(scatter.contributors(1), 2);
    EXPECT_EQ(add(0, 1, 10), Outcome::kLate);
  }
}

TEST_F(Stages, ASlotClosesOnlyWithAMajority) {
  scatter_.enter(enterWith(1) + layout_.shardOffset(Shard(1)), Form::kPlain);
  EXPECT_EQ(add(0, 1, 10), Outcome::kAccepted);
  EXPECT_EQ(add(2, 1, 100), Outcome::kAccepted);
  scatter_.lose(0);
  scatter_.lose(0);
  EXPECT_FALSE(scatter_.isClosed(0));
  scatter_.find(0);
  EXPECT_EQ(add(2, 0, 100), Outcome::kAccepted);
  EXPECT_TRUE(scatter_.isClosed(0));
}

// The slot closes with its last contribution.
TEST_F(Stages, ALostContributionMayComeAfterAll) {
  EXPECT_EQ(add(0, 0, 10), Outcome::kAccepted);
  EXPECT_EQ(add(2, 1, 100), Outcome::kAccepted);
  scatter_.lose(0);
  EXPECT_FALSE(scatter_.isClosed(0));  // the caller is away
  scatter_.find(0);
  EXPECT_EQ(add(2, 0, 100), Outcome::kAccepted);
  scatter_.enter(enterWith(1) + layout_.shardOffset(Shard(1)), Form::kPlain);
  EXPECT_EQ(value(0), 111);
}

// All of them have to close together.
TEST_F(Stages, NoSlotClosesWithoutLostOnesIfFormsDiffer) {
  scatter_.enter(enterWith(1) + layout_.shardOffset(Shard(1)), Form::kPlain);
  EXPECT_EQ(add(0, 0, 10), Outcome::kAccepted);
  EXPECT_EQ(scatter_.add(2, 1, Form::kTransformed, bytes(slot(1))),
            Outcome::kAccepted);
  scatter_.lose(0);
  EXPECT_FALSE(scatter_.isClosed(0));
}

TEST_F(Stages, ContributionsBeforeTheCallerWaitInTheArena) {
  EXPECT_EQ(add(0, 1, 10), Outcome::kAccepted);
  EXPECT_GT(arena_.usedBytes(), 0u);
  scatter_.enter(enterWith(1) + layout_.shardOffset(Shard(1)), Form::kPlain);
  EXPECT_EQ(arena_.usedBytes(), 0u);
  EXPECT_EQ(add(2, 1, 100), Outcome::kAccepted);
  EXPECT_EQ(value(1), 111);
}

TEST_F(Stages, AtTheBoundSumsAreRescaledAndFinal) {
  EXPECT_EQ(add(0, 0, 10), Outcome::kAccepted);
  scatter_.closeAll(0);
  EXPECT_EQ(value(0), 30);  // 3 / 1 contributors
  EXPECT_EQ(scatter_.contributors(1), 0);
  EXPECT_EQ(add(2, 0, 100), Outcome::kLate);
  // The owner's own late data does not count either.
  scatter_.enter(enterWith(1) + layout_.shardOffset(Shard(1)), Form::kPlain);
  EXPECT_EQ(bucket_[32], 30);
  EXPECT_EQ(bucket_[48], 0);  // none in time: an agreed zero
  EXPECT_FALSE(scatter_.contributed(1).test(0));
}

TEST_F(Stages, AtTheBoundIncompleteSlotsAreZeroIfTooMuchIsMissing) {
  std::byte* const bucket = enterWith(1);
  scatter_.enter(bucket + layout_.shardOffset(Shard(1)), Form::kPlain);
  EXPECT_EQ(add(0, 0, 10), Outcome::kAccepted);
  EXPECT_EQ(add(2, 0, 100), Outcome::kAccepted);
  scatter_.closeAll(0.2);    // slot 1 lacks two of all pairs
  EXPECT_EQ(value(0), 111);  // complete and sent before
  EXPECT_EQ(scatter_.contributors(1), 0);
  EXPECT_EQ(bucket_[48], 0);
  EXPECT_EQ(scatter_.zeroedElements(), layout_.slotElements(Shard(1), 1));
  EXPECT_TRUE(scatter_.contributed(1).test(1));
  EXPECT_FALSE(scatter_.summed(1).test(1));
  EXPECT_TRUE(scatter_.summed(1).test(0));
  EXPECT_EQ(add(2, 1, 100), Outcome::kLate);  // closing is final
}

TEST_F(Stages, AtTheBoundNothingIsZeroedWhereEnoughHasCome) {
  std::byte* const bucket = enterWith(1);
  scatter_.enter(bucket + layout_.shardOffset(Shard(1)), Form::kPlain);
  EXPECT_EQ(add(0, 0, 10), Outcome::kAccepted);
  scatter_.closeAll(0.5);
  EXPECT_EQ(scatter_.zeroedElements(), 0u);
  EXPECT_EQ(scatter_.contributors(0), 2);
}

// The caller comes after everything is over.
TEST_F(Stages, ZeroedSlotsAreZeroForALateCaller) {
  EXPECT_EQ(add(0, 0, 10), Outcome::kAccepted);
  scatter_.closeAll(0.5);
  EXPECT_EQ(scatter_.contributors(0), 0);
  scatter_.enter(enterWith(1) + layout_.shardOffset(Shard(1)), Form::kPlain);
  EXPECT_EQ(bucket_[32], 0);
  EXPECT_EQ(bucket_[48], 0);
}

TEST_F(Stages, ARankContributesInOneForm) {
  EXPECT_EQ(add(0, 0, 10), Outcome::kAccepted);
  EXPECT_EQ(scatter_.add(0, 1, Form::kTransformed, bytes(slot(10))),
            Outcome::kMismatched);
}

// Turning coefficients back needs memory for the whole shard.
TEST_F(Stages, WithoutRoomToTurnThemBackCoefficientsAreDropped) {
  for (const SumOrder order : {SumOrder::kArrival, SumOrder::kRank}) {
    Arena room(order == SumOrder::kArrival ? 2 * kSlotBytes : 4 * kSlotBytes);
    ScatterStage scatter = scatterBy(order, &room);
    EXPECT_EQ(scatter.add(0, 0, Form::kPlain, bytes(slot(10))),
              Outcome::kAccepted);
    EXPECT_EQ(scatter.add(2, 0, Form::kTransformed, bytes(slot(100))),
              Outcome::kAccepted);
    const ArenaBuffer rest = room.acquire(room.limitBytes() - room.usedBytes());
    scatter.closeAll(0);
    EXPECT_EQ(scatter.contributors(0), 1);
    EXPECT_FALSE(scatter.contributed(2).test(0));
    EXPECT_EQ(*reinterpret_cast<const float*>(scatter.value(0)), 30);
  }
}

TEST_F(Stages, ResultsThatPeersLackAreKeptWhenTheCallerLeaves) {
  scatter_.enter(enterWith(1) + layout_.shardOffset(Shard(1)), Form::kPlain);
  scatter_.closeAll(0);
  ArenaBuffer noRoomReserved;
  EXPECT_EQ(scatter_.leave(1, &noRoomReserved), 0u);
  bucket_.assign(kElements, -1);  // the caller reuses its memory
  EXPECT_EQ(scatter_.value(0), nullptr);
  EXPECT_EQ(value(1), 3);
}

TEST_F(Stages, AFullArenaIsToldNotExceeded) {
  Arena small(kSlotBytes);
  ScatterStage scatter = scatterBy(SumOrder::kArrival, &small);
  EXPECT_EQ(scatter.add(0, 0, Form::kPlain, bytes(slot(1))),
            Outcome::kAccepted);
  EXPECT_EQ(scatter.add(0, 1, Form::kPlain, bytes(slot(1))),
            Outcome::kArenaFull);
  EXPECT_FALSE(scatter.contributed(0).test(1));
}

// Rank order. In floats (1e8 + 1) - 1e8 is 0, but (1e8 - 1e8) + 1 is 1.

class RankOrder : public Stages {
 protected:
  RankOrder() : byRank_(scatterBy(SumOrder::kRank)) {}

  Outcome add(int source, uint32_t index, float value) {
    return byRank_.add(source, index, Form::kPlain, bytes(slot(value)));
  }
  float value(uint32_t index) const {
    return *reinterpret_cast<const float*>(byRank_.value(index));
  }

  ScatterStage byRank_;
};

TEST_F(RankOrder, AddsByRankWhateverComesFirst) {
  byRank_.enter(enterWith(1e8F) + layout_.shardOffset(Shard(1)), Form::kPlain);
  EXPECT_EQ(add(2, 0, -1e8F), Outcome::kAccepted);
  EXPECT_EQ(add(2, 0, -1e8F), Outcome::kDuplicate);
  EXPECT_EQ(bucket_[32], 1e8F);  // the own contribution, unchanged
  EXPECT_EQ(add(0, 0, 1), Outcome::kAccepted);
  EXPECT_TRUE(byRank_.isClosed(0));
  EXPECT_EQ(bucket_[32], 0);
  EXPECT_EQ(arena_.usedBytes(), 0u);

  scatter_.enter(enterWith(1e8F) + layout_.shardOffset(Shard(1)), Form::kPlain);
  Stages::add(2, 0, -1e8F);
  Stages::add(0, 0, 1);
  EXPECT_EQ(bucket_[32], 1);  // on arrival
}

TEST_F(RankOrder, TheCallerMayComeLast) {
  EXPECT_EQ(add(2, 0, -1e8F), Outcome::kAccepted);
  EXPECT_EQ(add(0, 0, 1e8F), Outcome::kAccepted);
  EXPECT_EQ(arena_.usedBytes(), 2 * kSlotBytes);
  byRank_.enter(enterWith(1) + layout_.shardOffset(Shard(1)), Form::kPlain);
  EXPECT_TRUE(byRank_.isClosed(0));
  EXPECT_EQ(bucket_[32], 0);
  EXPECT_EQ(arena_.usedBytes(), 0u);
}

TEST_F(RankOrder, TheBoundClosesWithoutTheCaller) {
  EXPECT_EQ(add(2, 0, 100), Outcome::kAccepted);
  EXPECT_EQ(add(0, 0, 10), Outcome::kAccepted);
  EXPECT_EQ(add(2, 1, 7), Outcome::kAccepted);
  byRank_.closeAll(0);
  EXPECT_EQ(value(0), 165);  // (10 + 100) * 3 / 2
  EXPECT_EQ(value(1), 21);
  EXPECT_EQ(arena_.usedBytes(), 2 * kSlotBytes);  // only sums
  EXPECT_EQ(add(0, 1, 1), Outcome::kLate);
  byRank_.enter(enterWith(1) + layout_.shardOffset(Shard(1)), Form::kPlain);
  EXPECT_EQ(bucket_[32], 165);
  EXPECT_EQ(bucket_[48], 21);
  EXPECT_EQ(arena_.usedBytes(), 0u);
}

TEST_F(RankOrder, TheBoundClosesWithTheCaller) {
  byRank_.enter(enterWith(1) + layout_.shardOffset(Shard(1)), Form::kPlain);
  EXPECT_EQ(add(2, 1, 2), Outcome::kAccepted);
  byRank_.closeAll(0);
  EXPECT_EQ(value(0), 3);    // alone
  EXPECT_EQ(value(1), 4.5);  // (1 + 2) * 3 / 2
  EXPECT_EQ(arena_.usedBytes(), 0u);
}

// A slot that has begun can be completed: its room is reserved from the start.
TEST_F(RankOrder, AFullArenaRefusesASlotsFirstContribution) {
  Arena small(2 * kSlotBytes);
  ScatterStage scatter = scatterBy(SumOrder::kRank, &small);
  EXPECT_EQ(scatter.add(2, 0, Form::kPlain, bytes(slot(7))),
            Outcome::kAccepted);
  EXPECT_EQ(scatter.add(2, 1, Form::kPlain, bytes(slot(7))),
            Outcome::kArenaFull);
  EXPECT_EQ(scatter.add(0, 0, Form::kPlain, bytes(slot(3))),
            Outcome::kAccepted);
  EXPECT_EQ(scatter.add(0, 1, Form::kPlain, bytes(slot(3))),
            Outcome::kArenaFull);
  EXPECT_FALSE(scatter.contributed(0).test(1));
  scatter.closeAll(0);  // the sum has only the room of the contributions
  EXPECT_EQ(*reinterpret_cast<const float*>(scatter.value(0)), 15);
  EXPECT_LE(small.heldBytes(), small.limitBytes());
}

TEST_F(Stages, ResultsLandInTheBucketEarlyOnesToo) {
  EXPECT_EQ(broadcast_.add(Shard(0), 0, 3, Form::kPlain, bytes(slot(7))),
            BroadcastStage::Outcome::kAccepted);
  broadcast_.enter(enterWith(1));
  EXPECT_EQ(bucket_[0], 7);
  EXPECT_EQ(bucket_[16], 1);
  EXPECT_EQ(broadcast_.add(Shard(0), 0, 3, Form::kPlain, bytes(slot(8))),
            BroadcastStage::Outcome::kDuplicate);
  EXPECT_EQ(bucket_[0], 7);
  EXPECT_EQ(broadcast_.add(Shard(2), 1, 2, Form::kPlain, bytes(slot(9))),
            BroadcastStage::Outcome::kAccepted);
  EXPECT_EQ(bucket_[80], 9);
  EXPECT_EQ(broadcast_.pairsMissing(), 16u);
  EXPECT_EQ(broadcast_.add(Shard(2), 0, 0, Form::kPlain, nullptr),
            BroadcastStage::Outcome::kAccepted);
  EXPECT_EQ(bucket_[64], 0);
}

TEST_F(Stages, MissingResultsAreZeroAndReported) {
  broadcast_.enter(enterWith(2));
  broadcast_.add(Shard(0), 0, 3, Form::kPlain, bytes(slot(7)));
  broadcast_.add(Shard(0), 1, 3, Form::kPlain, bytes(slot(7)));
  broadcast_.add(Shard(2), 0, 3, Form::kPlain, bytes(slot(7)));
  EXPECT_FALSE(broadcast_.complete());
  const auto filled = broadcast_.zeroMissing(ElementType::kFloat32);
  ASSERT_EQ(filled.size(), 1u);
  EXPECT_EQ(filled[0].offset, 80u);
  EXPECT_EQ(filled[0].count, 16u);
  EXPECT_EQ(bucket_[80], 0);
  EXPECT_EQ(bucket_[32], 2);  // not responsible for the own shard
}

TEST_F(Stages, EarlyResultsCanBeDroppedAndAskedForAgain) {
  broadcast_.add(Shard(0), 0, 2, Form::kPlain, bytes(slot(7)));
  BitSet marks(2);
  EXPECT_EQ(broadcast_.dropEarly(Shard(0), &marks).bytes, kSlotBytes);
  EXPECT_EQ(broadcast_.dropEarly(Shard(0), &marks).slots, 0u);
  EXPECT_TRUE(marks.test(0));
  EXPECT_EQ(arena_.usedBytes(), 0u);
  EXPECT_FALSE(broadcast_.received(Shard(0)).test(0));
  EXPECT_EQ(broadcast_.pairsMissing(), 0u);
  EXPECT_EQ(broadcast_.hash(), 0u);
}

TEST_F(Stages, TheHashOfResultsKnowsEachByteAndItsPlace) {
  const auto hashOf = [](Shard shard, uint32_t at, Form form, float value) {
    const auto payload = slot(value);
    return ReplicaProof::ofSlot(
        shard, at, form, bytes(payload), sizeof(float) * payload.size());
  };
  const uint64_t hash = hashOf(Shard(0), 1, Form::kPlain, 7);
  EXPECT_EQ(hash, hashOf(Shard(0), 1, Form::kPlain, 7));
  EXPECT_NE(hash, hashOf(Shard(0), 1, Form::kPlain, 8));
  EXPECT_NE(hash, hashOf(Shard(0), 0, Form::kPlain, 7));
  EXPECT_NE(hash, hashOf(Shard(2), 1, Form::kPlain, 7));
  EXPECT_NE(hash, hashOf(Shard(0), 1, Form::kTransformed, 7));

  broadcast_.add(Shard(0), 1, 2, Form::kPlain, bytes(slot(7)));
  EXPECT_EQ(broadcast_.hash(), hash);
  broadcast_.add(Shard(0), 0, 2, Form::kPlain, bytes(slot(8)));
  EXPECT_EQ(broadcast_.hash(), hash + hashOf(Shard(0), 0, Form::kPlain, 8));
}

}  // namespace
}  // namespace ubt
