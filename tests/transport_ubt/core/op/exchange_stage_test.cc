// SPDX-License-Identifier: Apache-2.0
//
// An owner's part between its group's sum and the result, with hand-computed
// sums.

#include "transport_ubt/core/op/exchange_stage.h"

#include <gtest/gtest.h>

#include <vector>

#include "transport_ubt/core/op/op_ranks.h"
#include "transport_ubt/sim/plain_reduction.h"

namespace ubt {
namespace {

constexpr int kGroups = 3;
constexpr int kMembers = 2;
constexpr int kRanks = kGroups * kMembers;
constexpr size_t kSlotBytes = 64;                // 16 floats
constexpr size_t kElements = kMembers * 2 * 16;  // two slots a shard

using Outcome = ExchangeStage::Outcome;

// The owner of shard 0 in the second of three groups, each of two ranks.
class Exchange : public ::testing::Test {
 protected:
  explicit Exchange(size_t arenaBytes = 1 << 20) : arena_(arenaBytes) {
    ScatterStage::Setup scatter;
    scatter.size = kMembers;
    scatter.reduction = &reduction_;
    scatter.arena = &own_;
    scatter.rescale = false;
    scatter_ = std::make_unique<ScatterStage>(layout_, scatter);
    ExchangeStage::Setup setup;
    setup.group = 1;
    setup.groups = kGroups;
    setup.ranks = kRanks;
    setup.own = scatter_.get();
    setup.reduction = &reduction_;
    setup.arena = &arena_;
    exchange_ = std::make_unique<ExchangeStage>(layout_, setup);
  }

  static OpShape shape() {
    OpShape shape;
    shape.elements = kElements;
    return shape;
  }
  static const std::byte* bytes(const std::vector<float>& values) {
    return reinterpret_cast<const std::byte*>(values.data());
  }
  Outcome add(int group, uint32_t slot, int contributors, float value) {
    return exchange_->add(group,
                          slot,
                          static_cast<uint16_t>(contributors),
                          bytes(std::vector<float>(16, value)));
  }
  // Both slots close with the own group's sum: of the caller and the other
  // member, or only of the other member.
  void own(float caller, float other) {
    bucket_.assign(kElements, caller);
    add(other);
    scatter_->enter(reinterpret_cast<std::byte*>(bucket_.data()), Form::kPlain);
    exchange_->enter();
    hand();
  }
  void ownWithoutCaller(float other) {
    add(other);
    scatter_->closeAll(0);
    hand();
  }
  float value(uint32_t slot) const {
    return *reinterpret_cast<const float*>(exchange_->value(slot));
  }
  uint32_t leave(uint32_t firstNeeded) {
    ArenaBuffer noRoomReserved;
    scatter_->leave(0, &noRoomReserved);
    return exchange_->leave(reinterpret_cast<std::byte*>(bucket_.data()),
                            firstNeeded,
                            &noRoomReserved);
  }

  const Reduction reduction_ = sim::plainReduction();
  Arena own_{1 << 20};
  Arena arena_;
  const ShardLayout layout_{shape(), kMembers, kSlotBytes};
  std::vector<float> bucket_;
  std::unique_ptr<ScatterStage> scatter_;
  std::unique_ptr<ExchangeStage> exchange_;

 private:
  void add(float other) {
    for (const uint32_t slot : {0, 1}) {
      scatter_->add(
          1, slot, Form::kPlain, bytes(std::vector<float>(16, other)));
    }
  }
  void hand() {
    for (const uint32_t slot : {0, 1}) {
      exchange_->addOwn(slot);
    }
  }
};

TEST_F(Exchange, ASlotClosesWhenAllGroupsSumsAreInIt) {
  own(1, 10);
  EXPECT_EQ(add(2, 0, 2, 100), Outcome::kAccepted);
  EXPECT_FALSE(exchange_->isClosed(0));
  EXPECT_EQ(add(2, 0, 2, 100), Outcome::kDuplicate);
  EXPECT_EQ(add(0, 0, 2, 1000), Outcome::kAccepted);
  EXPECT_TRUE(exchange_->isClosed(0));
  EXPECT_EQ(value(0), 1111);
  EXPECT_EQ(exchange_->contributors(0), kRanks);
  EXPECT_FALSE(exchange_->partial(0));
  EXPECT_FALSE(exchange_->closed());
  EXPECT_EQ(exchange_->closedOrder(), std::vector<uint32_t>{0});
  // The result must not overwrite the own sum: co-owners may still lack it.
  EXPECT_EQ(*reinterpret_cast<const float*>(scatter_->value(0)), 11);
}

TEST_F(Exchange, OnlyTheResultIsRescaled) {
  ownWithoutCaller(10);
  EXPECT_EQ(*reinterpret_cast<const float*>(scatter_->value(0)), 10);
  add(0, 0, 2, 100);
  add(2, 0, 1, 1000);
  EXPECT_EQ(exchange_->contributors(0), 4);
  EXPECT_EQ(value(0), 1110 * 6 / 4.0F);
}

// In floats (1e8 - 1e8) + 1 is 1, but (1e8 + 1) - 1e8 is 0.
TEST_F(Exchange, SumsAreAddedInTheOrderOfTheGroups) {
  own(1e8F, -2e8F);
  add(2, 0, 2, 1);
  add(0, 0, 2, 1e8F);
  EXPECT_EQ(value(0), 1);
}

TEST_F(Exchange, AGroupWithoutContributorsCountsAsPresent) {
  ownWithoutCaller(10);
  EXPECT_EQ(exchange_->add(0, 0, 0, nullptr), Outcome::kAccepted);
  EXPECT_EQ(exchange_->add(2, 0, 0, nullptr), Outcome::kAccepted);
  EXPECT_TRUE(exchange_->isClosed(0));
  EXPECT_FALSE(exchange_->partial(0));
  EXPECT_EQ(value(0), 60);
}

TEST_F(Exchange, NobodysSumIsAnAgreedZero) {
  scatter_->closeAll(0);
  exchange_->addOwn(0);
  exchange_->addOwn(1);
  exchange_->add(0, 0, 0, nullptr);
  exchange_->add(2, 0, 0, nullptr);
  EXPECT_EQ(exchange_->contributors(0), 0);
  EXPECT_EQ(exchange_->value(0), nullptr);
  EXPECT_EQ(arena_.usedBytes(), 0u);
}

TEST_F(Exchange, MissingSumsAreLeftOutAndReported) {
  own(1, 10);
  add(0, 0, 2, 100);
  add(2, 0, 2, 1000);
  add(2, 1, 2, 1000);
  exchange_->closeAll();
  EXPECT_TRUE(exchange_->closed());
  EXPECT_FALSE(exchange_->partial(0));
  EXPECT_TRUE(exchange_->partial(1));
  EXPECT_EQ(exchange_->contributors(1), 4);
  EXPECT_EQ(value(1), 1011 * 6 / 4.0F);
  EXPECT_TRUE(exchange_->received(2).test(1));
  EXPECT_FALSE(exchange_->received(0).test(1));
  EXPECT_EQ(add(0, 1, 2, 100), Outcome::kLate);  // closing is final
  EXPECT_EQ(value(1), 1011 * 6 / 4.0F);
}

TEST_F(Exchange, TheCallerGetsResultsAndMembersGetMissingOnes) {
  own(1, 10);
  for (const uint32_t slot : {0, 1}) {
    add(0, slot, 2, 100);
    add(2, slot, 2, 1000);
  }
  EXPECT_EQ(arena_.usedBytes(), 0u);  // the caller's op has its own memory
  EXPECT_EQ(leave(1), 0u);
  EXPECT_EQ(bucket_[0], 1111);
  EXPECT_EQ(bucket_[16], 1111);
  bucket_.assign(kElements, -1);  // the caller reuses its memory
  EXPECT_EQ(exchange_->value(0), nullptr);
  EXPECT_EQ(value(1), 1111);
  EXPECT_EQ(arena_.usedBytes(), kSlotBytes);
}

TEST_F(Exchange, BeforeTheCallerSumsLieInTheArena) {
  add(0, 0, 2, 100);
  EXPECT_EQ(arena_.usedBytes(), 2 * kSlotBytes);  // room for all other groups
  ownWithoutCaller(10);
  add(2, 0, 2, 1000);
  EXPECT_EQ(arena_.usedBytes(), kSlotBytes);  // only the result
  EXPECT_EQ(value(0), 1110 * 6 / 5.0F);
}

// An arena with room for one slot.
class SmallExchange : public Exchange {
 protected:
  SmallExchange() : Exchange(2 * kSlotBytes) {}
};

TEST_F(SmallExchange, AFullArenaIsToldNotExceeded) {
  EXPECT_EQ(add(0, 0, 2, 100), Outcome::kAccepted);
  EXPECT_EQ(add(0, 1, 2, 100), Outcome::kArenaFull);
  EXPECT_EQ(add(2, 0, 2, 1000), Outcome::kAccepted);
  EXPECT_FALSE(exchange_->received(0).test(1));
  own(1, 10);
  EXPECT_EQ(value(0), 1111);
  // From now on the caller's memory is available.
  EXPECT_EQ(add(0, 1, 2, 100), Outcome::kAccepted);
  EXPECT_LE(arena_.heldBytes(), arena_.limitBytes());
}

TEST_F(SmallExchange, AResultWithoutRoomIsZeroAndSaidToLackSums) {
  EXPECT_EQ(add(0, 0, 2, 100), Outcome::kAccepted);
  ownWithoutCaller(10);
  exchange_->closeAll();
  EXPECT_EQ(value(0), 110 * 6 / 3.0F);
  EXPECT_EQ(exchange_->contributors(1), 0);
  EXPECT_EQ(exchange_->value(1), nullptr);
  EXPECT_TRUE(exchange_->partial(1));
  EXPECT_FALSE(exchange_->received(1).test(1));  // its own group's
}

// Ranks ----------------------------------------------------------------------

TEST(OpRanks, OfAPlainTransposeAreAllMembers) {
  const RankGroups one = RankGroups::single(4);
  for (const RankGroups* groups : {static_cast<const RankGroups*>(nullptr),
                                   static_cast<const RankGroups*>(&one)}) {
    const OpRanks ranks(1, 4, groups);
    EXPECT_FALSE(ranks.grouped());
    EXPECT_EQ(ranks.members(), 4);
    EXPECT_EQ(ranks.shard(), 1);
    EXPECT_TRUE(ranks.isMember(3));
    EXPECT_FALSE(ranks.isCoOwner(3));
    EXPECT_EQ(ranks.shardOf(3), 3);
  }
}

TEST(OpRanks, OfGroupsAreMembersAndCoOwners) {
  const RankGroups groups = RankGroups::equal(6, 3);
  const OpRanks ranks(3, 6, &groups);  // the second member of the second group
  EXPECT_EQ(ranks.members(), 2);
  EXPECT_EQ(ranks.shard(), 1);
  EXPECT_EQ(ranks.group(), 1);
  std::vector<int> members;
  std::vector<int> coOwners;
  for (int rank = 0; rank < 6; rank++) {
    if (ranks.isMember(rank)) {
      members.push_back(rank);
    }
    if (ranks.isCoOwner(rank)) {
      coOwners.push_back(rank);
    }
  }
  EXPECT_EQ(members, (std::vector<int>{2, 3}));
  EXPECT_EQ(coOwners, (std::vector<int>{1, 5}));
}

}  // namespace
}  // namespace ubt
