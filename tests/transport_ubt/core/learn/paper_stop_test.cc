// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/paper_stop.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{seconds(1)};
constexpr PaperStop kStop{milliseconds(50), milliseconds(4)};

TEST(PaperStop, WithoutMarksTheBoundEndsTheStage) {
  EXPECT_EQ(kStop.end(kStart, kNever), kStart + milliseconds(50));
}

TEST(PaperStop, AfterAllMarksAShortWaitEndsIt) {
  EXPECT_EQ(kStop.end(kStart, kStart + milliseconds(20)),
            kStart + milliseconds(24));
}

TEST(PaperStop, TheBoundHoldsAfterMarks) {
  EXPECT_EQ(kStop.end(kStart, kStart + milliseconds(48)),
            kStart + milliseconds(50));
}

TEST(PaperStop, MarksBeforeTheStartCountFromTheStart) {
  EXPECT_EQ(kStop.end(kStart, kStart - milliseconds(20)),
            kStart + milliseconds(4));
}

TEST(PaperStop, AStageThatHasNotBegunDoesNotEnd) {
  EXPECT_EQ(kStop.end(kNever, kNever), kNever);
  EXPECT_EQ(kStop.end(kNever, kStart), kNever);
}

TEST(PaperStop, AnUnknownBoundNeverEndsAStage) {
  const PaperStop unknown;
  EXPECT_EQ(unknown.end(kStart, kNever), kNever);
  EXPECT_EQ(unknown.end(kStart, kStart), kNever);
}

}  // namespace
}  // namespace ubt
