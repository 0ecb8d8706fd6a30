// SPDX-License-Identifier: Apache-2.0
//
// A lead of two ops; owed results delay a call for 10 ms.
#include "transport_ubt/core/session/admission.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::milliseconds;

constexpr TimePoint kNow{std::chrono::seconds(1)};

constexpr TimePoint kNothingOwed{};
constexpr TimePoint kOwesLong = kNow + milliseconds(100);

class AdmissionTest : public ::testing::Test {
 protected:
  AdmissionTest() { call_.heldUntil = kNow + milliseconds(10); }
  bool mayBegin(Duration after, bool awaited, TimePoint owesUntil) const {
    return kNow + after >= admission_.mayBeginAt(call_, awaited, owesUntil);
  }
  TimePoint mayBeginAt(bool awaited, TimePoint owesUntil) const {
    return admission_.triesAt(call_, awaited, owesUntil);
  }

  Admission admission_{2, uint64_t{1} << 30};
  Admission::Call call_;
};

TEST_F(AdmissionTest, OwedResultsHoldACallForATime) {
  EXPECT_TRUE(mayBegin(milliseconds(0), false, kNothingOwed));
  EXPECT_FALSE(mayBegin(milliseconds(9), false, kOwesLong));
  EXPECT_TRUE(mayBegin(milliseconds(10), false, kOwesLong));
  EXPECT_TRUE(mayBegin(milliseconds(5), false, kNow + milliseconds(5)));
}

TEST_F(AdmissionTest, KnowsWhenACallMayBegin) {
  EXPECT_LE(mayBeginAt(false, kNothingOwed), kNow);
  EXPECT_EQ(mayBeginAt(false, kOwesLong), call_.heldUntil);
  EXPECT_EQ(mayBeginAt(false, kNow + milliseconds(5)), kNow + milliseconds(5));
  EXPECT_LE(mayBeginAt(true, kOwesLong), kNow);
}

TEST_F(AdmissionTest, AnOpThatOthersHaveBegunWaitsForNoOwedResults) {
  EXPECT_TRUE(mayBegin(milliseconds(0), true, kOwesLong));
}

TEST_F(AdmissionTest, AUsedUpLeadHoldsOpsThatNoRankAwaits) {
  admission_.lead().returned(8);
  admission_.lead().returned(8);
  EXPECT_FALSE(mayBegin(milliseconds(20), false, kNothingOwed));
  EXPECT_EQ(mayBeginAt(false, kNothingOwed), kNever);
  EXPECT_TRUE(mayBegin(milliseconds(20), true, kNothingOwed));
}

TEST_F(AdmissionTest, LooksForRoomAgainInAMoment) {
  admission_.lackRoom(kNow, &call_);
  EXPECT_TRUE(call_.lacksRoom);
  EXPECT_EQ(mayBeginAt(false, kNothingOwed), kNow + milliseconds(5));
  EXPECT_EQ(mayBeginAt(false, kOwesLong), call_.heldUntil);
}

TEST_F(AdmissionTest, ACallWaitsUntilItIsRemoved) {
  const OpId id{1, 0};
  EXPECT_FALSE(admission_.remove(id));
  admission_.add(id, call_);
  EXPECT_TRUE(admission_.waits(id));
  EXPECT_TRUE(admission_.remove(id));
  EXPECT_FALSE(admission_.waits(id));
}

}  // namespace
}  // namespace ubt
