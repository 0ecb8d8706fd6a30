// SPDX-License-Identifier: Apache-2.0
//
// A lead of two ops; results that are owed hold a call for 10 ms.
#include "transport_ubt/core/session/admission.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::milliseconds;

constexpr TimePoint kNow{std::chrono::seconds(1)};

class AdmissionTest : public ::testing::Test {
 protected:
  AdmissionTest() { call_.heldUntil = kNow + milliseconds(10); }
  bool mayBegin(Duration after, bool awaited, bool owes) const {
    return admission_.mayBegin(
        kNow + after, call_, awaited, [owes] { return owes; });
  }

  Admission admission_{2, uint64_t{1} << 30};
  Admission::Call call_;
};

TEST_F(AdmissionTest, OwedResultsHoldACallForATime) {
  EXPECT_TRUE(mayBegin(milliseconds(0), false, false));
  EXPECT_FALSE(mayBegin(milliseconds(9), false, true));
  EXPECT_TRUE(mayBegin(milliseconds(10), false, true));
}

TEST_F(AdmissionTest, WhatOthersHaveBegunWaitsForNoOwedResults) {
  EXPECT_TRUE(mayBegin(milliseconds(0), true, true));
}

TEST_F(AdmissionTest, AUsedUpLeadHoldsWhatNobodyAwaits) {
  admission_.lead().returned(8);
  admission_.lead().returned(8);
  EXPECT_FALSE(mayBegin(milliseconds(20), false, false));
  EXPECT_TRUE(mayBegin(milliseconds(20), true, false));
}

TEST_F(AdmissionTest, LooksForRoomAgainInAMoment) {
  EXPECT_EQ(admission_.retryAt(kNow, call_), kNow);
  admission_.lackRoom(kNow, &call_);
  EXPECT_TRUE(call_.lacksRoom);
  EXPECT_EQ(admission_.retryAt(kNow, call_), kNow + milliseconds(5));
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
