// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/session/silence_watch.h"

#include <gtest/gtest.h>

#include <vector>

namespace ubt {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class SilenceWatchTest : public ::testing::Test {
 protected:
  using Verdict = SilenceWatch::Verdict;

  // Checks the rank at each due time until `until`. Stops at a rank that is
  // gone. Returns the number of questions.
  int ask(TimePoint until, TimePoint heardAt) {
    int asked = 0;
    while (!gone_ && watch_.earliest() <= until) {
      now_ = watch_.earliest();
      for (const int rank : watch_.due(now_)) {
        const Verdict verdict = watch_.look(rank, now_, heardAt);
        asked += verdict == Verdict::kAsk;
        gone_ = gone_ || verdict == Verdict::kGone;
      }
    }
    return asked;
  }

  SilenceWatch watch_{3};
  const TimePoint start_{seconds(100)};
  TimePoint now_ = start_;
  bool gone_ = false;
};

TEST_F(SilenceWatchTest, ARankThatAnswersNothingIsGoneAfterTenSeconds) {
  watch_.start(1, start_);
  EXPECT_EQ(ask(start_ + seconds(60), start_), SilenceWatch::kQuestions);
  EXPECT_TRUE(gone_);
  EXPECT_EQ(now_, start_ + SilenceWatch::lasted(true));
}

TEST_F(SilenceWatchTest, ARankThatWasNeverHeardGetsAMinute) {
  watch_.start(1, start_);
  EXPECT_EQ(ask(start_ + seconds(90), {}), SilenceWatch::kQuestionsUnheard);
  EXPECT_TRUE(gone_);
  EXPECT_EQ(now_, start_ + SilenceWatch::lasted(false));
}

TEST_F(SilenceWatchTest, ASilenceBecomesLongOnce) {
  const TimePoint answer = start_ + seconds(20);
  watch_.start(1, start_);
  for (const TimePoint since : {start_, answer}) {
    std::vector<TimePoint> became;
    for (int i = 0; i < SilenceWatch::kQuestions; i++) {
      now_ = since + SilenceWatch::kFirst + i * SilenceWatch::kNext;
      ASSERT_EQ(watch_.look(1, now_, since), Verdict::kAsk);
      if (watch_.becameLong(1)) {
        became.push_back(now_);
      }
      EXPECT_EQ(watch_.isLong(1, since), now_ >= since + SilenceWatch::kLong);
    }
    EXPECT_EQ(became, std::vector<TimePoint>{since + SilenceWatch::kLong});
  }
}

TEST_F(SilenceWatchTest, AnAnswerBeginsAnew) {
  watch_.start(1, start_);
  EXPECT_EQ(ask(start_ + seconds(9), {}), 8);
  const TimePoint answer = start_ + milliseconds(9500);
  EXPECT_EQ(ask(answer + seconds(9), answer), 8);
  EXPECT_FALSE(gone_);
}

TEST_F(SilenceWatchTest, ARankThatSpeaksIsNotAsked) {
  watch_.start(1, start_);
  for (int i = 1; i < 50; i++) {
    const TimePoint heard = start_ + i * seconds(1);
    EXPECT_EQ(ask(heard, heard), 0);
  }
}

// It asks again before it gives a rank up.
TEST_F(SilenceWatchTest, AHostThatStoodStillBlamesNoRank) {
  watch_.start(1, start_);
  now_ = start_ + seconds(3600);
  ASSERT_EQ(watch_.due(now_).size(), 1u);
  EXPECT_EQ(watch_.look(1, now_, {}), Verdict::kAsk);
  EXPECT_GE(watch_.earliest(), now_ + SilenceWatch::kNext);
}

TEST_F(SilenceWatchTest, ARankThatIsNotNeededMayBeSilent) {
  watch_.start(1, start_);
  watch_.start(2, start_);
  watch_.stop(1);
  watch_.stop(2);
  EXPECT_EQ(watch_.earliest(), kNever);
}

// Before the next check of the rank.
TEST_F(SilenceWatchTest, OneThatIsHeardAgainIsNotSilent) {
  watch_.start(1, start_);
  ask(start_ + SilenceWatch::kLong, start_);
  EXPECT_TRUE(watch_.isSilent(1, start_));
  EXPECT_TRUE(watch_.isLong(1, start_));
  EXPECT_FALSE(watch_.isSilent(1, now_));
  EXPECT_FALSE(watch_.isLong(1, now_));
}

}  // namespace
}  // namespace ubt
