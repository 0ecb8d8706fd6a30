// SPDX-License-Identifier: Apache-2.0
//
// The conditions for a call's op to begin.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/transport_ubt/core/one_rank.h"
#include "transport_ubt/core/session/session.h"

namespace ubt {
namespace {

// Three ranks: the first does all it can, the second enters and finishes
// everything, the third is silent. Nothing is repaired, so that calls end by
// their bounds.
class SessionLead : public ::testing::Test {
 protected:
  explicit SessionLead(Duration timeout = std::chrono::seconds(1))
      : rank_(setup(timeout, &warnings_)) {
    buckets_.reserve(100);
  }

  static OneRank::Setup setup(Duration timeout,
                              std::vector<std::string>* warnings) {
    OneRank::Setup setup;
    setup.size = 3;
    setup.options.leadOps = 2;
    setup.options.repair = RepairPolicy::kNone;
    setup.options.leadBytes = 10000;
    setup.options.timeout = timeout;
    setup.warn = [warnings](const std::string& text) {
      warnings->push_back(text);
    };
    return setup;
  }
  OpId enter(uint32_t tag, size_t elements = 100) {
    buckets_.emplace_back(elements, 1.0F);
    const OpId id = rank_.session().enter(
        rank_.now, tag, floats(elements), bytesOf(buckets_.back()));
    return id;
  }
  // Runs ops that return; rank 2 does not finish them.
  void lead(uint32_t tag, size_t elements = 100) {
    const OpId id = enter(tag, elements);
    rank_.say(1, {ControlRecord::announce(id, floats(elements))});
    pass(std::chrono::milliseconds(200));
    ASSERT_TRUE(rank_.session().finished(id));
    rank_.session().leave(rank_.now, id);
    rank_.say(1, {ControlRecord::about(ControlType::kDone, id)});
  }
  void pass(Duration time) { rank_.at(rank_.now + time); }
  // The error of a call that waits for rank 2 until `late` after its timeout.
  std::string failureWhenNoticed(Duration late) {
    lead(0);
    lead(1);
    const OpId waits = enter(2);
    rank_.now += rank_.session().options().timeout + late;
    rank_.endpoint().deadlinePassed(rank_.now);
    EXPECT_TRUE(rank_.session().finished(waits));
    std::string failure = rank_.session().failure(waits);
    rank_.session().leave(rank_.now, waits);
    return failure;
  }

  std::vector<std::string> warnings_;
  OneRank rank_;
  std::vector<std::vector<float>> buckets_;
};

class SessionLongLead : public SessionLead {
 protected:
  SessionLongLead() : SessionLead(std::chrono::minutes(30)) {}
};

TEST_F(SessionLongLead, ACallThatWaitsForLongNamesTheLaggardOnce) {
  lead(0);
  lead(1);
  const OpId waits = enter(2);
  for (int second = 0; second < 60; second++) {
    EXPECT_EQ(warnings_.size(), second < 10 ? 0u : 1u);
    rank_.say(1, {});
    rank_.say(2, {});
    pass(std::chrono::seconds(1));
  }
  EXPECT_EQ(warnings_[0],
            "an allreduce has waited for 10 s to begin: rank 2 has not "
            "finished an earlier one (at most 2 ops may be ahead of it)");
  EXPECT_FALSE(rank_.session().finished(waits));
}

TEST_F(SessionLead, OneThatGivesUpSaysSoAndStopsWaiting) {
  lead(0);
  lead(1);
  EXPECT_TRUE(rank_.session().lingering());
  const OpId waits = enter(2);
  const OpId alsoWaits = enter(3);
  pass(std::chrono::milliseconds(985));
  rank_.say(2, {ControlRecord::announce({4, 0}, floats(100))});
  const OpId began = enter(4);  // awaited
  pass(std::chrono::milliseconds(14));
  EXPECT_FALSE(rank_.session().finished(waits));
  EXPECT_FALSE(rank_.session().finished(began));
  rank_.now += std::chrono::milliseconds(1);
  rank_.endpoint().deadlinePassed(rank_.now);
  for (const OpId& id : {waits, alsoWaits, began}) {
    ASSERT_TRUE(rank_.session().finished(id));
    EXPECT_EQ(rank_.session().failure(id).find("rank 2 has not finished"), 0u);
    rank_.session().leave(rank_.now, id);
  }
  EXPECT_FALSE(rank_.session().failure().empty());
  EXPECT_FALSE(rank_.session().lingering());
  EXPECT_EQ(rank_.sent().size(), 2u);  // a leave to each
}

// The process is stopped meanwhile, and continues after the timeout.
TEST_F(SessionLead, OneThatWasStoppedForTooLongBlamesItself) {
  lead(0);
  lead(1);
  const OpId waits = enter(2);
  rank_.now += std::chrono::seconds(2);
  rank_.say(2,
            {ControlRecord::about(ControlType::kDone, {0, 0}),
             ControlRecord::about(ControlType::kDone, {1, 0})});
  rank_.endpoint().deadlinePassed(rank_.now);
  ASSERT_TRUE(rank_.session().finished(waits));
  EXPECT_THAT(rank_.session().failure(waits),
              ::testing::StartsWith("rank 0 noticed too late"));
  rank_.session().leave(rank_.now, waits);
}

// Rank 2 still lags, but it may have waited for this rank.
TEST_F(SessionLead, OneThatNoticesItsTimeoutASecondLateBlamesItself) {
  EXPECT_THAT(failureWhenNoticed(std::chrono::milliseconds(1000)),
              ::testing::StartsWith("rank 0 noticed too late"));
}

TEST_F(SessionLead, OneThatNoticesItsTimeoutSoonerBlamesTheLaggard) {
  EXPECT_THAT(failureWhenNoticed(std::chrono::milliseconds(999)),
              ::testing::StartsWith("rank 2 has not finished"));
}

TEST_F(SessionLead, AWaitingOpBeginsWhenTheSlowRankIsDone) {
  lead(0);
  lead(1);
  const OpId waits = enter(2);
  pass(std::chrono::milliseconds(500));
  EXPECT_FALSE(rank_.session().finished(waits));
  rank_.say(2, {ControlRecord::about(ControlType::kDone, {0, 0})});
  rank_.say(1, {ControlRecord::announce(waits, floats(100))});
  pass(std::chrono::milliseconds(200));
  EXPECT_TRUE(rank_.session().finished(waits));
  EXPECT_TRUE(rank_.session().failure(waits).empty());
}

TEST_F(SessionLead, AnOpThatAPeerHasBegunNeedNotWait) {
  lead(0);
  lead(1);
  const OpId waits = enter(2);
  rank_.say(2, {ControlRecord::announce({3, 0}, floats(100))});
  const OpId begun = enter(3);
  rank_.say(2, {ControlRecord::announce({2, 0}, floats(100))});
  pass(std::chrono::milliseconds(200));
  EXPECT_TRUE(rank_.session().finished(waits));
  EXPECT_TRUE(rank_.session().finished(begun));
}

TEST_F(SessionLead, IsLimitedInBytesToo) {
  lead(0, 5000);  // exceeds the allowed lead, but alone
  const OpId waits = enter(1);
  pass(std::chrono::milliseconds(999));
  EXPECT_FALSE(rank_.session().finished(waits));
  pass(std::chrono::milliseconds(1));
  EXPECT_THAT(rank_.session().failure(waits),
              ::testing::HasSubstr("at most 10000 bytes may be ahead"));
}

}  // namespace
}  // namespace ubt
