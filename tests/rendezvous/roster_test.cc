// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/roster.h"

#include <gloo/common/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "tests/rendezvous/failure.h"
#include "tests/support/redis_server.h"

namespace gloo {
namespace rendezvous {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

Deadline in(int ms) {
  return Clock::now() + milliseconds(ms);
}

// A real Redis, and ranks as threads with a connection each.
class RosterTest : public ::testing::Test {
 protected:
  Roster join(const std::string& prefix,
              int rank,
              int size,
              int timeoutMs = 10000) {
    const auto deadline = in(timeoutMs);
    RedisConnection connection(RedisUrl::parse(server_.url()), deadline);
    RosterOptions options;
    options.prefix = prefix;
    options.rank = rank;
    options.size = size;
    options.payload = "payload " + std::to_string(rank);
    return Roster::join(connection, options, deadline);
  }

  std::future<Roster> joinLater(const std::string& prefix,
                                int rank,
                                int size,
                                int timeoutMs = 10000) {
    return std::async(std::launch::async,
                      [=] { return join(prefix, rank, size, timeoutMs); });
  }

  std::vector<std::future<Roster>> joinAll(const std::string& prefix,
                                           int size) {
    std::vector<std::future<Roster>> ranks;
    ranks.reserve(size);
    for (int i = 0; i < size; i++) {
      ranks.push_back(joinLater(prefix, i, size));
    }
    return ranks;
  }

  // The error of a rank that failed.
  static std::string failure(std::future<Roster>& rank) {
    return rendezvous::failure([&] { rank.get(); });
  }

  // Checks that all ranks got the same roster. Returns its run id.
  static std::string agree(std::vector<std::future<Roster>> ranks) {
    const auto first = ranks[0].get();
    for (size_t i = 1; i < ranks.size(); i++) {
      const auto roster = ranks[i].get();
      EXPECT_EQ(roster.runId(), first.runId());
      for (size_t j = 0; j < ranks.size(); j++) {
        EXPECT_EQ(roster.members()[j].nonce, first.members()[j].nonce);
        EXPECT_EQ(roster.members()[j].payload, "payload " + std::to_string(j));
      }
    }
    return first.runId();
  }

  // Returns when a rank has joined the job.
  void waitForJoin(const std::string& prefix) {
    const auto end = in(5000);
    while (redis({"XLEN", redisKeyOfJob(prefix) + ":roster"}).integer < 1) {
      ASSERT_LT(Clock::now(), end) << "nobody joins " << prefix;
    }
  }

  RedisReply redis(const RedisCommand& command) {
    RedisConnection connection(RedisUrl::parse(server_.url()), in(5000));
    return connection.command(command, in(5000));
  }

  test::RedisServer server_;
};

TEST_F(RosterTest, EightRanks) {
  agree(joinAll("job", 8));
}

TEST_F(RosterTest, SixtyFourRanks) {
  agree(joinAll("job", 64));
}

TEST_F(RosterTest, SamePrefixTwice) {
  const auto first = agree(joinAll("job", 4));
  const auto second = agree(joinAll("job", 4));
  EXPECT_NE(first, second);
}

TEST_F(RosterTest, ManyRunsWithOnePrefixLeaveOnlyOneRun) {
  for (int i = 0; i < 5; i++) {
    agree(joinAll("job", 3));
  }
  const auto length = redis({"XLEN", redisKeyOfJob("job") + ":roster"});
  EXPECT_LE(length.integer, 2 * (3 + 2 + 1));
}

TEST_F(RosterTest, SamePrefixWithAnotherSize) {
  agree(joinAll("job", 5));
  agree(joinAll("job", 2));
}

TEST_F(RosterTest, TwoJobsAtOnce) {
  auto a = joinAll("a", 4);
  auto b = joinAll("b", 4);
  EXPECT_NE(agree(std::move(a)), agree(std::move(b)));
}

TEST_F(RosterTest, LeftoversOfAJobThatNeverCompleted) {
  for (int i = 1; i < 4; i++) {
    EXPECT_THROW(join("job", i, 4, 100), IoException);
  }
  agree(joinAll("job", 4));
  EXPECT_THROW(join("job", 0, 4, 100), IoException);
  agree(joinAll("job", 4));
}

TEST_F(RosterTest, KeysExpire) {
  agree(joinAll("job", 2));
  const auto keys = redis({"KEYS", "*"});
  ASSERT_FALSE(keys.elements.empty());
  for (const auto& key : keys.elements) {
    EXPECT_GT(redis({"TTL", key.text}).integer, 0) << key.text;
  }
}

TEST_F(RosterTest, MissingRankIsNamedToAll) {
  auto a = joinLater("job", 0, 3, 1000);
  auto b = joinLater("job", 1, 3, 20000);
  const auto start = Clock::now();
  EXPECT_THAT(failure(a), AllOf(HasSubstr("rank 2"), HasSubstr("same prefix")));
  // Rank 0 tells the others, so they need not wait for their own deadlines.
  EXPECT_THAT(failure(b),
              AllOf(HasSubstr("rank 2"), HasSubstr("rank 0 ran out")));
  EXPECT_LT(Clock::now() - start, milliseconds(5000));
}

TEST_F(RosterTest, MissingRankZero) {
  auto b = joinLater("job", 1, 2, 500);
  EXPECT_THAT(failure(b), HasSubstr("never came: rank 0"));
}

TEST_F(RosterTest, RankStartedTwice) {
  auto first = joinLater("job", 1, 3);
  waitForJoin("job");
  auto second = joinLater("job", 1, 3);
  EXPECT_THAT(failure(first), HasSubstr("start each rank once"));
  auto a = joinLater("job", 0, 3);
  auto c = joinLater("job", 2, 3);
  EXPECT_EQ(a.get().runId(), second.get().runId());
  c.get();
}

TEST_F(RosterTest, DifferentSizes) {
  auto a = joinLater("job", 0, 2);
  auto b = joinLater("job", 1, 3);
  EXPECT_THAT(failure(a), HasSubstr("size 3"));
  EXPECT_THAT(failure(b), HasSubstr("size 3"));
}

TEST_F(RosterTest, RedisSlow) {
  auto ranks = joinAll("job", 4);
  server_.stop();
  // The stall itself; there is no event to wait for.
  std::this_thread::sleep_for(milliseconds(300));
  server_.resume();
  agree(std::move(ranks));
}

TEST_F(RosterTest, RedisStoppedWhileJoining) {
  auto a = joinLater("job", 0, 2, 1500);
  waitForJoin("job");
  server_.stop();
  const auto start = Clock::now();
  EXPECT_THAT(failure(a), HasSubstr("stopped or overloaded"));
  EXPECT_LT(Clock::now() - start, milliseconds(3000));
}

TEST_F(RosterTest, RedisKilledWhileJoining) {
  auto a = joinLater("job", 0, 2, 30000);
  waitForJoin("job");
  server_.kill();
  const auto start = Clock::now();
  EXPECT_THAT(failure(a), HasSubstr("Lost the connection"));
  EXPECT_LT(Clock::now() - start, milliseconds(3000));
}

TEST_F(RosterTest, KeyOfAnotherProgram) {
  redis({"SET", redisKeyOfJob("job") + ":roster", "x"});
  auto a = joinLater("job", 0, 1);
  EXPECT_THAT(failure(a), HasSubstr("choose another prefix"));
}

TEST_F(RosterTest, OptionsThatMakeNoSense) {
  EXPECT_THROW(join("job", 2, 2), InvalidOperationException);
  EXPECT_THROW(join("job", -1, 2), InvalidOperationException);
  EXPECT_THROW(join("", 0, 1), InvalidOperationException);
}

}  // namespace
}  // namespace rendezvous
}  // namespace gloo
