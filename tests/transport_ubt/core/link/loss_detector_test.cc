// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/link/loss_detector.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace ubt {
namespace {

using std::chrono::milliseconds;

constexpr Duration kAfter = milliseconds(5);

class LossDetectorTest : public ::testing::Test {
 protected:
  using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;

  void arrive(uint64_t from, uint64_t to) {
    for (uint64_t number = from; number < to; number++) {
      EXPECT_FALSE(losses_.arrived(now_, number)) << number;
    }
  }
  // Numbers that are lost since the last call: first and count.
  Ranges lost() {
    Ranges ranges;
    losses_.collect(
        now_, kAfter, [&](uint64_t first, uint64_t count, uint64_t before) {
          ranges.emplace_back(first, count);
          before_ = before;
        });
    return ranges;
  }

  LossDetector losses_;
  uint64_t before_ = 0;  // of the latest range
  TimePoint now_{std::chrono::seconds(1)};
};

TEST_F(LossDetectorTest, ThreeLaterNumbersMakeAGapLost) {
  arrive(0, 10);
  arrive(12, 13);
  EXPECT_EQ(lost(), Ranges());
  arrive(13, 14);
  EXPECT_EQ(lost(), (Ranges{{10, 1}}));
  EXPECT_EQ(before_, 0u);
  arrive(14, 15);
  EXPECT_EQ(lost(), (Ranges{{11, 1}}));
  EXPECT_EQ(before_, 1u) << "the same run";
  EXPECT_EQ(lost(), Ranges());
}

TEST_F(LossDetectorTest, TimeMakesAGapLost) {
  arrive(0, 1);
  EXPECT_EQ(losses_.nextDeadline(kAfter), kNever);
  arrive(5, 6);
  EXPECT_EQ(lost(), (Ranges{{1, 2}}));  // three later numbers were used
  EXPECT_EQ(losses_.nextDeadline(kAfter), now_ + kAfter);
  now_ += kAfter;
  EXPECT_EQ(lost(), (Ranges{{3, 2}}));
  EXPECT_EQ(losses_.nextDeadline(kAfter), kNever);
}

TEST_F(LossDetectorTest, TheEndOfATransmissionMayBeLost) {
  arrive(0, 3);
  losses_.used(now_, 5);
  EXPECT_EQ(lost(), Ranges());
  now_ += kAfter;
  EXPECT_EQ(lost(), (Ranges{{3, 2}}));
}

TEST_F(LossDetectorTest, OvertakenNumbersRaiseTheThreshold) {
  arrive(1, 4);
  EXPECT_EQ(lost(), (Ranges{{0, 1}}));
  arrive(4, 10);
  EXPECT_TRUE(losses_.arrived(now_, 0));
  EXPECT_FALSE(losses_.arrived(now_, 0)) << "again";
  arrive(11, 20);
  EXPECT_EQ(lost(), Ranges());
  arrive(10, 11);
  arrive(20, 40);
  EXPECT_EQ(lost(), Ranges());
  // Ten later numbers make a gap lost.
  arrive(41, 50);
  EXPECT_EQ(lost(), Ranges());
  arrive(50, 51);
  EXPECT_EQ(lost(), (Ranges{{40, 1}}));
}

TEST_F(LossDetectorTest, AnArrivalDividesAGap) {
  arrive(0, 1);
  losses_.used(now_, 10);
  arrive(5, 6);
  now_ += kAfter;
  EXPECT_EQ(lost(), (Ranges{{1, 4}, {6, 4}}));
  EXPECT_TRUE(losses_.arrived(now_, 7));
  EXPECT_TRUE(losses_.arrived(now_, 6));
}

TEST_F(LossDetectorTest, HoldsAFewGaps) {
  for (uint64_t number = 0; number < 4000; number += 2) {
    losses_.arrived(now_, number);
  }
  uint64_t all = 0;
  for (const auto& [first, count] : lost()) {
    all += count;
  }
  EXPECT_GE(all, 1990u);
}

// Every second of them arrives after all, which leaves many gaps. Of the rest
// it knows only the latest: it does not tell that older ones were overtaken.
TEST_F(LossDetectorTest, RemembersAFewLostGaps) {
  losses_.arrived(now_, 4000);
  (void)lost();
  for (uint64_t number = 0; number < 4000; number += 2) {
    losses_.arrived(now_, number);
  }
  size_t remembered = 0;
  for (uint64_t number = 1; number < 4000; number += 2) {
    remembered += losses_.arrived(now_, number);
  }
  EXPECT_LE(remembered, LossDetector::kGapsMax);
  EXPECT_GT(remembered, 0u);
}

}  // namespace
}  // namespace ubt
