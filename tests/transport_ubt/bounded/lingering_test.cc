// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/lingering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Clock = Lingering::Clock;

const std::vector<int> kNobody;
const std::vector<int> kTwo{1, 3};

class LingeringTest : public ::testing::Test {
 protected:
  LingeringTest() : before_(Clock::now()), lingering_(2, seconds(60)) {}

  // A time after the begin of lingering, or up to a moment later.
  Clock::time_point in(milliseconds passed) const { return before_ + passed; }

  const Clock::time_point before_;
  Lingering lingering_;
};

TEST_F(LingeringTest, GoesOnWhileItIsNeededAndWithinItsLimit) {
  EXPECT_FALSE(lingering_.goesOn(kNobody, in(seconds(1))));
  EXPECT_TRUE(lingering_.goesOn(kTwo, in(seconds(1))));
  EXPECT_FALSE(lingering_.goesOn(kTwo, Clock::now() + seconds(60)));
  lingering_.atMost(seconds(5));
  EXPECT_FALSE(lingering_.goesOn(kTwo, Clock::now() + seconds(5)));
  lingering_.atMost(seconds(50));
  EXPECT_FALSE(lingering_.goesOn(kTwo, Clock::now() + seconds(5)));
}

TEST_F(LingeringTest, NamesTheRanksOnceItTakesLong) {
  EXPECT_THAT(lingering_.remark(kTwo, in(seconds(4))), IsEmpty());
  EXPECT_THAT(lingering_.remark(kNobody, in(seconds(6))), IsEmpty());
  EXPECT_THAT(
      lingering_.remark(kTwo, in(seconds(6))),
      AllOf(HasSubstr("rank 2 has finished and waits for rank 1, rank 3"),
            HasSubstr("60 s at most (GLOO_UBT_LINGER)")));
  EXPECT_THAT(lingering_.remark(kTwo, in(seconds(7))), IsEmpty());
}

TEST_F(LingeringTest, NamesTheRanksThatItLeaves) {
  EXPECT_THAT(
      lingering_.remark(kTwo, in(seconds(61))),
      HasSubstr(
          "rank 2 ends after 60 s (GLOO_UBT_LINGER) though rank 1, rank 3 "
          "has not finished"));
  EXPECT_THAT(lingering_.remark(kTwo, in(seconds(62))), IsEmpty());
}

TEST_F(LingeringTest, WithoutLingeringItSaysNothing) {
  lingering_.atMost(milliseconds(0));
  EXPECT_FALSE(lingering_.goesOn(kTwo, Clock::now()));
  EXPECT_THAT(lingering_.remark(kTwo, Clock::now()), IsEmpty());
}

TEST_F(LingeringTest, LooksAgainWhenThereIsSomethingToSay) {
  EXPECT_GE(lingering_.nextLook(in(seconds(0))), in(Lingering::kSilence));
  EXPECT_LT(lingering_.nextLook(in(seconds(0))), in(seconds(60)));
  EXPECT_GE(lingering_.nextLook(Clock::now() + seconds(6)), in(seconds(60)));
  lingering_.atMost(seconds(2));
  EXPECT_LT(lingering_.nextLook(in(seconds(0))), in(Lingering::kSilence));
}

}  // namespace
}  // namespace ubt
