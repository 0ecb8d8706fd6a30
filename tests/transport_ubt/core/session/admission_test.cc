// SPDX-License-Identifier: Apache-2.0
//
// A lead of two ops.
#include "transport_ubt/core/session/admission.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::milliseconds;

constexpr TimePoint kNow{std::chrono::seconds(1)};

class AdmissionTest : public ::testing::Test {
 protected:
  TimePoint triesAt(bool awaited) const {
    return admission_.triesAt(call_, awaited);
  }

  Admission admission_{2, uint64_t{1} << 30};
  Admission::Call call_;
};

TEST_F(AdmissionTest, AUsedUpLeadHoldsOpsThatNoRankAwaits) {
  EXPECT_LE(triesAt(false), kNow);
  admission_.lead().returned(8);
  admission_.lead().returned(8);
  EXPECT_EQ(triesAt(false), kNever);
  EXPECT_LE(triesAt(true), kNow);
}

TEST_F(AdmissionTest, LooksForRoomAgainInAMoment) {
  admission_.lackRoom(kNow, &call_);
  EXPECT_TRUE(call_.lacksRoom);
  EXPECT_EQ(triesAt(false), kNow + milliseconds(5));
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
