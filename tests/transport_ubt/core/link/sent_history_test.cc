// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/link/sent_history.h"

#include <gtest/gtest.h>

#include <vector>

namespace ubt {
namespace {

constexpr OpId kOp{7, 1};
constexpr OpId kOther{8, 1};

class SentHistoryTest : public ::testing::Test {
 protected:
  void send(const OpId& op, Stage stage, uint32_t slot, uint32_t slots) {
    for (uint32_t i = 0; i < slots; i++) {
      sent_.add(next_++, op, stage, slot + i);
    }
  }
  std::vector<SentHistory::Run> find(uint64_t first, uint64_t count) const {
    std::vector<SentHistory::Run> runs;
    sent_.find(first, count, [&](const SentHistory::Run& run) {
      runs.push_back(run);
    });
    return runs;
  }

  SentHistory sent_;
  uint64_t next_ = 100;
};

TEST_F(SentHistoryTest, FindsTheSlotsOfNumbers) {
  send(kOp, Stage::kScatter, 0, 10);      // 100 to 109
  send(kOther, Stage::kScatter, 10, 5);   // 110 to 114
  send(kOther, Stage::kBroadcast, 3, 5);  // 115 to 119
  const auto runs = find(108, 8);
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].op, kOp);
  EXPECT_EQ(runs[0].slot, 8u);
  EXPECT_EQ(runs[0].slots, 2u);
  EXPECT_EQ(runs[1].op, kOther);
  EXPECT_EQ(runs[1].slot, 10u);
  EXPECT_EQ(runs[1].slots, 5u);
  EXPECT_EQ(runs[2].stage, Stage::kBroadcast);
  EXPECT_EQ(runs[2].slot, 3u);
  EXPECT_EQ(runs[2].slots, 1u);
  EXPECT_EQ(runs[2].number, 115u);
}

TEST_F(SentHistoryTest, FindsNothingOfOtherNumbers) {
  EXPECT_TRUE(find(0, UINT64_MAX).empty());
  send(kOp, Stage::kScatter, 0, 10);
  EXPECT_TRUE(find(0, 100).empty());
  EXPECT_TRUE(find(110, UINT64_MAX).empty());
  EXPECT_TRUE(find(105, 0).empty());
  const auto all = find(0, UINT64_MAX);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].slots, 10u);
}

TEST_F(SentHistoryTest, ForgetsTheOldestNumbers) {
  for (size_t i = 0; i < 2 * SentHistory::kRunsMax; i++) {
    send(kOp, Stage::kBroadcast, static_cast<uint32_t>(2 * i), 1);
  }
  EXPECT_TRUE(find(100, 1).empty());
  EXPECT_EQ(find(0, UINT64_MAX).size(), SentHistory::kRunsMax);
}

}  // namespace
}  // namespace ubt
