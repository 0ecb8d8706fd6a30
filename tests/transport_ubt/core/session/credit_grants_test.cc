// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/session/credit_grants.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

constexpr CreditGrants::Load load(uint64_t owed, uint64_t owedByAll) {
  CreditGrants::Load load;
  load.windowBytes = 80000;
  load.senders = 4;
  load.owed = owed;
  load.owedByAll = owedByAll;
  return load;
}

// 80 slots of 1,000 bytes, four peers.
constexpr int kPeers = 4;
const CreditGrants kGrants(kPeers, 1000);

TEST(CreditGrants, SplitTheWindowEquallyIfNobodyOwes) {
  EXPECT_EQ(kGrants.share(load(0, 0)), 20u);
}

TEST(CreditGrants, GiveHalfOfTheWindowToThoseThatOwe) {
  EXPECT_EQ(kGrants.share(load(25, 100)), 20u);
  EXPECT_EQ(kGrants.share(load(100, 100)), 50u);
  EXPECT_EQ(kGrants.share(load(0, 100)), 10u);
}

// A sender would keep the rest.
TEST(CreditGrants, ExceedAnEqualShareOnlyForSlotsOwed) {
  EXPECT_EQ(kGrants.share(load(30, 30)), 30u);
  EXPECT_EQ(kGrants.share(load(3, 3)), 21u);
}

TEST(CreditGrants, TogetherNeverExceedTheWindow) {
  auto late = load(100, 100);
  late.held = 60;
  EXPECT_EQ(kGrants.share(late), 20u);
  late.held = 90;
  EXPECT_EQ(kGrants.share(late), 1u);
}

TEST(CreditGrants, LeavePartOfTheWindowToOtherSessions) {
  auto shared = load(0, 0);
  shared.senders = 8;
  EXPECT_EQ(kGrants.share(shared), 10u);
}

TEST(CreditGrants, AreNeverZero) {
  auto little = load(0, 100);
  little.windowBytes = 10;
  EXPECT_EQ(kGrants.share(little), 1u);
  EXPECT_EQ(kGrants.multicastShare(10), 1u);
  EXPECT_EQ(kGrants.multicastShare(80000), 20u);
}

TEST(CreditGrants, LeaveSoonerTheLessIsLeft) {
  const TimePoint now{std::chrono::seconds(1)};
  const auto dueAt = [now](uint64_t left) {
    return CreditGrants::dueAt(now, 20, left, kNever);
  };
  EXPECT_EQ(dueAt(20), kNever);
  EXPECT_EQ(dueAt(19), kNever);
  EXPECT_EQ(dueAt(18), PeerLink::later(now));
  EXPECT_EQ(dueAt(6), PeerLink::later(now));
  EXPECT_EQ(dueAt(5), now);
}

}  // namespace
}  // namespace ubt
