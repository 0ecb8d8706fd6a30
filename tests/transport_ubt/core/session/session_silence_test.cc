// SPDX-License-Identifier: Apache-2.0
//
// Silent ranks that a call needs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/transport_ubt/core/one_rank.h"
#include "transport_ubt/core/session/session.h"

namespace ubt {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int kRanks = 3;

class SessionSilenceTest : public ::testing::Test {
 protected:
  SessionSilenceTest() {
    OneRank::Setup setup;
    setup.size = kRanks;
    setup.options = Options();  // warm-up: a call needs every rank
    setup.options.timeout = std::chrono::minutes(30);
    setup.silent = [this](int rank, bool heard) {
      warnings_.emplace_back(rank, rank_->now - start_);
      heard_ = heard;
    };
    setup.warn = [this](const std::string& text) {
      waits_.emplace_back(text, rank_->now - start_);
    };
    rank_ = std::make_unique<OneRank>(setup);
    start_ = rank_->now;
  }

  void enter() {
    id_ = rank_->session().enter(
        rank_->now, 0, floats(bucket_.size()), bytesOf(bucket_));
  }
  // Lets time pass while only these ranks send something.
  void pass(seconds time, const std::vector<int>& speaking) {
    for (seconds second(0); second < time; second += seconds(1)) {
      for (const int rank : speaking) {
        rank_->say(rank, {});
      }
      rank_->at(rank_->now + seconds(1));
    }
  }
  std::string failure() {
    return rank_->session().finished(id_) ? rank_->session().failure(id_) : "";
  }

  std::unique_ptr<OneRank> rank_;
  TimePoint start_{};
  std::vector<float> bucket_ = std::vector<float>(1000, 1);
  OpId id_;
  std::vector<std::pair<int, Duration>> warnings_;
  bool heard_ = false;  // the rank of the newest of them, before
  std::vector<std::pair<std::string, Duration>> waits_;  // warnings of these
};

using Warnings = std::vector<std::pair<int, Duration>>;

TEST_F(SessionSilenceTest, ARankThatIsNeverHeardIsGivenUpWithTheRemedy) {
  enter();
  pass(seconds(59), {1});
  EXPECT_EQ(warnings_, (Warnings{{2, SilenceWatch::kLong}}));
  EXPECT_EQ(failure(), "");
  pass(seconds(2), {1});
  EXPECT_THAT(failure(), StartsWith("rank 2 has not answered for 60 s"));
  EXPECT_THAT(failure(), HasSubstr("GLOO_UBT_PORTS"));
  EXPECT_EQ(warnings_.size(), 1u);
  EXPECT_FALSE(heard_);
}

TEST_F(SessionSilenceTest, OfARankThatFallsSilentUsersLearnBeforeItIsGone) {
  rank_->say(2, {});
  enter();
  pass(seconds(9), {1});
  EXPECT_EQ(warnings_, (Warnings{{2, SilenceWatch::kLong}}));
  EXPECT_EQ(failure(), "");
  pass(seconds(2), {1});
  EXPECT_THAT(failure(), StartsWith("rank 2 has not answered for 10 s"));
  EXPECT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(heard_);
}

// Its control datagrams got lost.
TEST_F(SessionSilenceTest, ARankThatSentOnlyDataHasBeenHeard) {
  enter();
  PacketHeader contribution;
  contribution.op = id_;
  rank_->send(2, contribution, 256);
  pass(seconds(11), {1});
  EXPECT_THAT(failure(), StartsWith("rank 2 has not answered for 10 s"));
  EXPECT_THAT(failure(), Not(HasSubstr("GLOO_UBT_PORTS")));
}

// It may still receive, although nothing comes from it.
TEST_F(SessionSilenceTest, ARankThatIsGivenUpIsToldSoOnce) {
  rank_->say(2, {});
  enter();
  int told = 0;
  while (rank_->now < start_ + seconds(30)) {
    if (failure().empty()) {
      rank_->say(1, {});
    }
    rank_->endpoint().deadlinePassed(rank_->now);
    for (const OneRank::Sent& sent : rank_->sent()) {
      told += sent.packet.peer == 2 && !failure().empty();
    }
    rank_->now += std::chrono::milliseconds(10);
  }
  EXPECT_THAT(failure(), StartsWith("rank 2 has not answered for 10 s"));
  EXPECT_EQ(told, 1);
}

TEST_F(SessionSilenceTest, NoWarningOfARankThatSpeaks) {
  enter();
  pass(seconds(60), {1, 2});
  EXPECT_EQ(warnings_, Warnings());
}

// It gave up, most likely because of the other rank.
TEST_F(SessionSilenceTest,
       ARankThatClosesItsConnectionIsNotBlamedForASilentRank) {
  enter();
  pass(seconds(6), {1});
  rank_->session().peerClosed(
      rank_->now, 1, "the connection to rank 1 is closed");
  EXPECT_THAT(failure(),
              StartsWith("rank 2 has been silent for 5 s or longer"));
  EXPECT_THAT(failure(), HasSubstr("GLOO_UBT_PORTS"));
  EXPECT_THAT(failure(), HasSubstr("the connection to rank 1 is closed"));
}

TEST_F(SessionSilenceTest,
       ARankThatClosesItsConnectionIsBlamedIfNoRankIsSilent) {
  enter();
  pass(seconds(6), {1, 2});
  rank_->session().peerClosed(
      rank_->now, 1, "the connection to rank 1 is closed");
  EXPECT_EQ(failure(), "the connection to rank 1 is closed");
}

// Rank 2 was done with the first call, so it had no reason to send.
TEST_F(SessionSilenceTest, ARankThatIsNeededOnlyNowHidesNoSilentOne) {
  enter();
  rank_->say(2, {ControlRecord::about(ControlType::kDone, id_)});
  pass(seconds(2), {1});
  pass(seconds(6), {});
  ASSERT_EQ(warnings_.size(), 1u);
  std::vector<float> more(bucket_.size(), 1);
  rank_->session().enter(rank_->now, 1, floats(more.size()), bytesOf(more));
  rank_->session().peerClosed(
      rank_->now, 2, "the connection to rank 2 is closed");
  EXPECT_THAT(failure(),
              StartsWith("rank 1 has been silent for 5 s or longer"));
}

// Before the next check of the rank that was silent.
TEST_F(SessionSilenceTest, ARankThatWasJustHeardAgainIsNotBlamed) {
  enter();
  pass(seconds(6), {1});
  rank_->say(2, {});
  rank_->now += std::chrono::milliseconds(1);
  rank_->say(1, {});
  rank_->session().peerClosed(
      rank_->now, 1, "the connection to rank 1 is closed");
  EXPECT_EQ(failure(), "the connection to rank 1 is closed");
}

TEST_F(SessionSilenceTest,
       ARankThatClosesAllConnectionsBlamesTheRanksItWaitsFor) {
  enter();
  pass(seconds(3), {1});
  rank_->session().peerClosed(
      rank_->now, 0, "rank 0 (this one) has closed them");
  EXPECT_THAT(failure(), StartsWith("rank 0 (this one) has closed them; "));
  EXPECT_THAT(failure(), HasSubstr("rank 2 has not entered"));
}

// Both ranks answer, but their callers have not entered.
TEST_F(SessionSilenceTest, ALongWaitNamesTheRanksOnce) {
  enter();
  pass(seconds(60), {1, 2});
  EXPECT_TRUE(warnings_.empty());
  ASSERT_EQ(waits_.size(), 1u);
  EXPECT_THAT(waits_[0].first,
              StartsWith("an allreduce has waited for 10 s: rank 1 has not "
                         "entered"));
  EXPECT_THAT(waits_[0].first, HasSubstr("rank 2 has not entered"));
  EXPECT_THAT(waits_[0].first, HasSubstr("timeout of 1800 s"));
  EXPECT_EQ(waits_[0].second, seconds(10));
}

}  // namespace
}  // namespace ubt
