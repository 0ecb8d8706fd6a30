// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/causes.h"

#include <gtest/gtest.h>

namespace ubt::sim {
namespace {

SimOptions crashOf(int rank) {
  SimOptions options;
  options.crashes = rank;
  return options;
}

TEST(Causes, NothingIsExplainedWhereNothingIsWrong) {
  Causes causes{SimOptions()};
  EXPECT_FALSE(causes.any());
  for (const char* text :
       {"rank 1 died",
        "rank 1 has not answered for 10 s: it has died",
        "op with tag 0 timed out after 5000 ms: rank 1 has not entered;",
        "rank 1 has given up because of rank 2, which died",
        "rank 1 has destroyed its context",
        "the connection to rank 1 is closed",
        "halted: over the last ops"}) {
    EXPECT_FALSE(causes.explain(0, text)) << text;
  }
}

TEST(Causes, ACrashExplainsErrorsThatNameItsRankAndNoOthers) {
  Causes causes(crashOf(2));
  EXPECT_TRUE(causes.any());
  EXPECT_TRUE(causes.explain(0, "rank 2 died"));
  EXPECT_FALSE(causes.explain(0, "rank 1 died"));
  EXPECT_TRUE(causes.explain(0, "rank 1 has given up because of rank 2, w"));
  EXPECT_FALSE(causes.explain(0, "rank 1 has given up because of rank 3, w"));
  EXPECT_TRUE(causes.explain(0, "op with tag 7 timed out: rank 2 never"));
  EXPECT_FALSE(causes.explain(
      0, "op with tag 7 timed out: rank 1 did not deliver; rank 2 never"));
  EXPECT_FALSE(
      causes.explain(0, "op with tag 7 timed out: rank 1 did not deliver;"));
  const std::string silent =
      "op with tag 7 timed out: rank 1 has not answered for 4 s; rank 2 has "
      "not "
      "answered for 4 s;";
  EXPECT_FALSE(causes.explain(0, silent));
  SimOptions lossy = crashOf(2);
  lossy.loss = 0.01;
  EXPECT_TRUE(Causes(lossy).explain(0, silent));
  EXPECT_FALSE(causes.explain(0, "rank 2 has destroyed its context"));
  EXPECT_FALSE(causes.explain(0, "a text that nobody knows of rank 2"));
}

TEST(Causes, TheTextOfARankAtFaultIsPassedOn) {
  const std::string text = "rank 0 has given up because of rank 1, which";
  Causes causes(crashOf(2));
  EXPECT_FALSE(causes.explain(3, text));
  EXPECT_TRUE(causes.explain(0, "rank 2 has given up because of rank 1, w"));
  EXPECT_TRUE(causes.explain(3, text));
}

// Another rank told it that it is at fault, and it cannot know better.
TEST(Causes, ARankThatTheRankAtFaultBlamesMayBlameItself) {
  const std::string text = "rank 1 has given up because of its own error; see";
  Causes causes(crashOf(2));
  EXPECT_FALSE(causes.explain(3, text));
  EXPECT_TRUE(causes.explain(1, "rank 2 has given up because of rank 1 (this"));
  EXPECT_TRUE(causes.explain(3, text));
}

TEST(Causes, AShortPauseExplainsNothingALongOneDoes) {
  const std::string text =
      "op with tag 7 timed out: rank 3 has not answered for 4 s;";
  SimOptions options;
  options.protocol.timeout = std::chrono::seconds(5);
  options.faults.pauses[0] = {
      3, std::chrono::milliseconds(1), std::chrono::milliseconds(200)};
  EXPECT_FALSE(Causes(options).explain(0, text));
  options.faults.pauses[0].lasting = std::chrono::seconds(4);
  EXPECT_TRUE(Causes(options).explain(0, text));
  EXPECT_FALSE(Causes(options).explain(
      0, "op with tag 7 timed out: rank 2 has not answered for 4 s;"));
}

// The rank is busy for seconds with data that others send before they wait for
// it.
TEST(Causes, ARankThatIsFarTooSlowExplainsATimeoutThatNamesIt) {
  const std::string text = "op with tag 7 timed out: rank 2 did not deliver;";
  SimOptions options;
  options.protocol.timeout = std::chrono::seconds(5);
  options.slow = 2;
  options.slowBy = std::chrono::microseconds(1);
  EXPECT_FALSE(Causes(options).explain(0, text));
  options.slowBy = std::chrono::milliseconds(10);
  EXPECT_TRUE(Causes(options).explain(0, text));
  EXPECT_FALSE(Causes(options).explain(
      0, "op with tag 7 timed out: rank 1 did not deliver;"));
}

TEST(Causes, RanksThatDisagreeHaveToBeNamedWithTheirShapes) {
  SimOptions options;
  options.disagrees = 1;
  Causes causes(options);
  EXPECT_TRUE(causes.explain(
      0, "allreduce with tag 3: rank 0 brings 2, rank 1 brings 4; all ranks"));
  EXPECT_FALSE(causes.explain(
      0, "allreduce with tag 3: rank 0 brings 2, rank 2 brings 4; all ranks"));
}

}  // namespace
}  // namespace ubt::sim
