// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/reported_losses.h"

#include <gtest/gtest.h>

#include <vector>

namespace ubt {
namespace {

using std::chrono::milliseconds;

constexpr TimePoint kStart{std::chrono::seconds(1)};

class ReportedLossesTest : public ::testing::Test {
 protected:
  static TimePoint at(int ms) { return kStart + milliseconds(ms); }
  // The first slots of the reports that are due.
  std::vector<uint32_t> due(int ms) {
    std::vector<uint32_t> first;
    losses_.forDue(at(ms),
                   [&](const auto& slots) { first.push_back(slots.first); });
    return first;
  }

  ReportedLosses losses_{2};
};

TEST_F(ReportedLossesTest, AreDueInTheirTime) {
  EXPECT_EQ(losses_.earliest(), kNever);
  losses_.add(at(30), {1, Stage::kScatter, 3, 1});
  losses_.add(at(10), {0, Stage::kScatter, 1, 1});
  losses_.add(at(20), {1, Stage::kBroadcast, 2, 1});
  EXPECT_EQ(losses_.earliest(), at(10));
  EXPECT_TRUE(due(9).empty());
  EXPECT_EQ(due(20), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(losses_.earliest(), at(30));
  EXPECT_EQ(due(99), (std::vector<uint32_t>{3}));
  EXPECT_EQ(losses_.earliest(), kNever);
}

// A peer may send any number of reports.
TEST_F(ReportedLossesTest, AreFewAtATime) {
  for (uint32_t slot = 0; slot < 1000; slot++) {
    losses_.add(at(10), {1, Stage::kScatter, slot, 1});
  }
  EXPECT_EQ(due(10).size(), 8u);
  losses_.add(at(11), {1, Stage::kScatter, 5, 1});
  EXPECT_EQ(due(11), (std::vector<uint32_t>{5}));
}

}  // namespace
}  // namespace ubt
