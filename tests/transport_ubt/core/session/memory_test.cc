// SPDX-License-Identifier: Apache-2.0
//
// How much memory hostile peers can make a rank use, measured at the allocator.

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <random>

#include "tests/transport_ubt/core/one_rank.h"

namespace ubt {
namespace {

// Always 0 under a sanitizer, because it has its own allocator.
size_t held() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Records and links, at any arena limit.
constexpr size_t kBeside = 1 << 20;

struct Ranks {
  int size;
  int groups;
};

class Memory : public ::testing::TestWithParam<Ranks> {};

TEST_P(Memory, PeersCannotMakeARankHoldMoreThanItsArena) {
  const auto [size, count] = GetParam();
  const RankGroups groups = RankGroups::equal(size, count);
  const OpRanks ranks(0, size, &groups);
  OneRank::Setup setup;
  setup.size = size;
  setup.groups = count;
  setup.arenaBytes = 8 << 20;
  setup.options.warmupOps = 1;
  OneRank rank(setup);
  const size_t before = held();
  size_t most = before;
  std::mt19937_64 random(size);
  for (uint32_t i = 0; i < 3000; i++) {
    const int peer = 1 + static_cast<int>(random() % (size - 1));
    OpShape shape;
    shape.type = static_cast<ElementType>(random() % 4);
    shape.elements = (uint64_t{1} << random() % 32) + random() % 1000;
    shape.fingerprint =
        setup.options.fingerprint() | (count > 1 ? OpShape::kHierarchical : 0);
    const OpId id{i % 400, 0};
    const ShardLayout layout(shape, ranks.members(), setup.slotBytes);
    rank.say(peer, {ControlRecord::announce(id, shape)});
    PacketHeader header;
    header.op = id;
    header.elementType = shape.type;
    header.elements = static_cast<uint32_t>(shape.elements);
    header.hierarchical = shape.hierarchical();
    header.slot = static_cast<uint32_t>(random() % layout.slots(Shard(0)));
    rank.send(peer, header, layout.slotSize(Shard(0), header.slot));
    header.stage = Stage::kBroadcast;
    header.contributors = 1;
    const Shard shard = ranks.isMember(peer) ? ranks.shardOf(peer) : Shard(0);
    if (layout.slots(shard) > 0) {
      header.slot = static_cast<uint32_t>(random() % layout.slots(shard));
      rank.send(peer, header, layout.slotSize(shard, header.slot));
    }
    most = std::max(most, held());
  }
  EXPECT_GT(rank.count(Counter::kArenaFull), 0u);
  EXPECT_GT(rank.arena().usedBytes(), setup.arenaBytes / 2);
  EXPECT_LE(rank.arena().heldBytes(), setup.arenaBytes);
  EXPECT_LE(most - before, setup.arenaBytes + kBeside) << size;
}

INSTANTIATE_TEST_SUITE_P(Sizes,
                         Memory,
                         ::testing::Values(Ranks{2, 1},
                                           Ranks{5, 1},
                                           Ranks{64, 1},
                                           Ranks{4, 2},
                                           Ranks{64, 8},
                                           Ranks{16, 8}));

}  // namespace
}  // namespace ubt
