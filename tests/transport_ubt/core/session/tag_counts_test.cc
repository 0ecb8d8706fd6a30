// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/session/tag_counts.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace ubt {
namespace {

constexpr size_t kManyEntries = 1 << 20;

// Simulates threads on one rank. Each uses its own tags in order; the next
// thread is drawn. Returns the identities by use.
std::map<std::pair<uint32_t, int>, uint32_t> identities(
    const std::vector<std::vector<uint32_t>>& threads,
    uint64_t seed,
    TagCounts* counts) {
  std::mt19937_64 random(seed);
  std::vector<size_t> at(threads.size());
  std::map<uint32_t, int> uses;
  std::map<std::pair<uint32_t, int>, uint32_t> result;
  size_t left = 0;
  for (const auto& tags : threads) {
    left += tags.size();
  }
  while (left > 0) {
    const size_t thread = random() % threads.size();
    if (at[thread] < threads[thread].size()) {
      const uint32_t tag = threads[thread][at[thread]++];
      result[{tag, uses[tag]++}] = counts->use(tag);
      left--;
    }
  }
  return result;
}

TEST(TagCounts, AgreeOnRandomTagsWhateverTheOrderOfThreads) {
  std::mt19937 random(13);
  std::vector<std::vector<uint32_t>> threads(8);
  for (int i = 0; i < 5000; i++) {
    threads[i % threads.size()].push_back(random());
  }
  TagCounts counts(kManyEntries);
  const auto first = identities(threads, 1, &counts);
  for (uint64_t seed = 2; seed < 12; seed++) {
    TagCounts others(kManyEntries);
    EXPECT_EQ(identities(threads, seed, &others), first) << seed;
  }
}

// With a small limit, counts are dropped midway, at a different time for each
// order. Even then no count may be wrong: it is unknown or correct.
RC_GTEST_PROP(TagCounts, AgreeOrAreNotKnown, ()) {
  std::map<uint32_t, uint32_t> model;
  TagCounts counts(*rc::gen::inRange<size_t>(8, 40));
  std::set<uint32_t> refused;
  const auto few = *rc::gen::inRange<uint32_t>(1, 200);
  for (int i = 0; i < 400; i++) {
    const uint32_t tag = *rc::gen::element<uint32_t>(1, 7, 1 << 20) *
                         *rc::gen::inRange<uint32_t>(0, few);
    RC_ASSERT(counts.used(tag) >= model[tag]);
    if (counts.knows(tag)) {
      RC_ASSERT(refused.count(tag) == 0);
      RC_ASSERT(counts.use(tag) == model[tag]++);
    } else {
      refused.insert(tag);
    }
    RC_ASSERT(counts.entries() <= 40u);
  }
}

RC_GTEST_PROP(TagCounts, CountAsAMapWould, ()) {
  TagCounts counts(kManyEntries);
  std::map<uint32_t, uint32_t> model;
  for (int i = 0; i < 200; i++) {
    const uint32_t tag = *rc::gen::element<uint32_t>(0, 0xfffffff0u) +
                         *rc::gen::inRange<uint32_t>(0, 16);
    RC_ASSERT(counts.use(tag) == model[tag]++);
    const uint32_t other = *rc::gen::inRange<uint32_t>(0, 20);
    RC_ASSERT(counts.used(other) == (model.count(other) ? model[other] : 0));
    RC_ASSERT(counts.knows(other));
  }
}

TEST(TagCounts, StaySmallForTagsThatCountUpAndForOneThatRepeats) {
  TagCounts counts(kManyEntries);
  for (uint32_t i = 0; i < 100000; i++) {
    counts.use(5 + i);
  }
  EXPECT_EQ(counts.entries(), 1u);
  for (uint32_t i = 0; i < 1000; i++) {
    counts.use(1);
  }
  EXPECT_EQ(counts.entries(), 2u);
}

// Like PyTorch's tags: they count up, and other collectives use some.
TEST(TagCounts, ServeTagsThatCountUpWithGapsForEver) {
  constexpr size_t kEntriesMax = 1000;
  TagCounts counts(kEntriesMax);
  constexpr uint32_t kUses = 100000;
  for (uint32_t i = 0; i < kUses; i++) {
    ASSERT_TRUE(counts.knows(2 * i));
    ASSERT_EQ(counts.use(2 * i), 0u);
    ASSERT_LE(counts.entries(), kEntriesMax);
  }
  for (uint32_t i = 0; i < kUses; i++) {
    ASSERT_EQ(counts.used(2 * i), 1u);
  }
  // A new tag is distinguished from used tags for some time.
  EXPECT_TRUE(counts.knows(2 * kUses));
  EXPECT_EQ(counts.used(2 * kUses), 0u);
  EXPECT_TRUE(counts.knows(2 * kUses - 3));
  EXPECT_EQ(counts.used(2 * kUses - 3), 0u);
  EXPECT_FALSE(counts.knows(1));
}

// A program may count some tags up and reuse another one in every step.
TEST(TagCounts, KeepATagThatComesAgainThoughOthersAreGivenUp) {
  TagCounts counts(1000);
  for (uint32_t i = 0; i < 100000; i++) {
    ASSERT_TRUE(counts.knows(7));
    ASSERT_EQ(counts.use(7), i);
    counts.use(10 + 2 * i);
  }
}

TEST(TagCounts, StayRightForManyScatteredTagsUsedAgainAndAgain) {
  TagCounts counts(kManyEntries);
  for (uint32_t round = 0; round < 3; round++) {
    for (uint32_t i = 0; i < 20000; i++) {
      ASSERT_TRUE(counts.knows(7919 * i));
      ASSERT_EQ(counts.use(7919 * i), round);
    }
  }
}

TEST(TagCounts, AreBoundedForTagsThatComeAgainToo) {
  constexpr size_t kEntriesMax = 100;
  TagCounts counts(kEntriesMax);
  for (uint32_t i = 0; i < 10000; i++) {
    counts.use(7919 * i);
    counts.use(7919 * i);
    ASSERT_LE(counts.entries(), kEntriesMax);
  }
  EXPECT_FALSE(counts.knows(0));
  EXPECT_EQ(counts.used(0), 2u);
}

}  // namespace
}  // namespace ubt
