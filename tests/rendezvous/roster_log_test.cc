// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/roster_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <random>

namespace gloo {
namespace rendezvous {
namespace {

using ::testing::HasSubstr;

// Ranks over a stream in memory. A test decides the order of their writes.
class RosterLogTest : public ::testing::Test {
 protected:
  struct Rank {
    explicit Rank(RosterLog::Self self) : log(std::move(self)) {}
    RosterLog log;
    size_t read = 0;
  };

  std::string nonce() {
    std::string text = std::to_string(++nonces_);
    return std::string(kNonceBytes - text.size(), '0') + text;
  }

  std::unique_ptr<Rank> start(int rank, int size) {
    auto place = "start " + std::to_string(nonces_ + 1);
    auto result = std::make_unique<Rank>(RosterLog::Self{
        rank, size, nonce(), "payload " + std::to_string(rank), place});
    write(result->log.joinEntry());
    return result;
  }

  void write(const RosterLog::Fields& fields) {
    stream_.push_back({std::to_string(stream_.size()), fields});
  }

  // Reads up to `count` entries, and answers.
  void step(Rank& rank, size_t count = SIZE_MAX) {
    for (; count > 0 && rank.read < stream_.size(); count--) {
      rank.log.apply(stream_[rank.read++]);
    }
    while (const auto answer = rank.log.nextEntry()) {
      write(*answer);
    }
  }

  template <typename... Ranks>
  void settle(Ranks&... ranks) {
    for (size_t before = 0; before != stream_.size();) {
      before = stream_.size();
      (step(*ranks), ...);
    }
    (step(*ranks), ...);
  }

  // Rank 0's nonce is also the call that the others answer.
  static std::string nonceOf(const Rank& rank) {
    for (const auto& field : rank.log.joinEntry()) {
      if (field.first == "nonce") {
        return field.second;
      }
    }
    return "";
  }

  std::deque<StreamEntry> stream_;
  int nonces_ = 0;
};

TEST_F(RosterLogTest, OneRank) {
  auto a = start(0, 1);
  settle(a);
  ASSERT_TRUE(a->log.members());
  EXPECT_EQ(a->log.members()->at(0).payload, "payload 0");
}

TEST_F(RosterLogTest, AllAgreeInAnyOrderOfStart) {
  for (const auto order : {std::array<int, 3>{0, 1, 2}, {2, 1, 0}, {1, 0, 2}}) {
    stream_.clear();
    std::map<int, std::unique_ptr<Rank>> ranks;
    for (int rank : order) {
      ranks[rank] = start(rank, 3);
    }
    settle(ranks[0], ranks[1], ranks[2]);
    for (int i = 0; i < 3; i++) {
      ASSERT_TRUE(ranks[i]->log.members());
      for (int j = 0; j < 3; j++) {
        const auto& member = ranks[i]->log.members()->at(j);
        EXPECT_EQ(member.payload, "payload " + std::to_string(j));
        EXPECT_EQ(member.nonce, ranks[0]->log.members()->at(j).nonce);
      }
    }
  }
}

TEST_F(RosterLogTest, LeftoversOfAFinishedRunDoNotMatch) {
  auto a = start(0, 2);
  auto b = start(1, 2);
  settle(a, b);
  ASSERT_TRUE(a->log.members());
  auto c = start(1, 2);
  settle(c);
  EXPECT_FALSE(c->log.members());
  auto d = start(0, 2);
  settle(c, d);
  ASSERT_TRUE(c->log.members());
  ASSERT_TRUE(d->log.members());
  EXPECT_NE(d->log.members()->at(0).nonce, a->log.members()->at(0).nonce);
  EXPECT_NE(d->log.members()->at(1).nonce, a->log.members()->at(1).nonce);
}

TEST_F(RosterLogTest, LeftoverJoinIsNotAnAnswer) {
  start(1, 2);  // and crashed
  auto a = start(0, 2);
  settle(a);
  EXPECT_FALSE(a->log.members());
  EXPECT_THAT(a->log.missing(), HasSubstr("1 of 2 ranks are here"));
  EXPECT_THAT(a->log.missing(), HasSubstr("crashed"));
}

TEST_F(RosterLogTest, RankRestartedBeforeTheRosterReplacesItself) {
  auto a = start(0, 3);
  auto crashed = start(1, 3);
  settle(a, crashed);
  auto b = start(1, 3);
  auto c = start(2, 3);
  settle(a, b, c);
  ASSERT_TRUE(a->log.members());
  ASSERT_TRUE(b->log.members());
  ASSERT_TRUE(c->log.members());
}

TEST_F(RosterLogTest, RankZeroRestartedBeforeTheRoster) {
  auto crashed = start(0, 2);
  auto b = start(1, 2);
  step(*crashed);
  step(*b);
  auto a = start(0, 2);
  settle(a, b);
  ASSERT_TRUE(a->log.members());
  ASSERT_TRUE(b->log.members());
}

TEST_F(RosterLogTest, RestartThatRacesWithTheRosterVoidsItForAll) {
  auto a = start(0, 3);
  auto b = start(1, 3);
  auto c = start(2, 3);
  settle(b, c);
  // Rank 1 starts again after rank 0 has decided and before it writes.
  for (; a->read < stream_.size(); a->read++) {
    a->log.apply(stream_[a->read]);
  }
  const auto roster = a->log.nextEntry();
  ASSERT_TRUE(roster);
  auto again = start(1, 3);
  write(*roster);
  step(*a);
  step(*c);
  EXPECT_FALSE(a->log.members());
  EXPECT_FALSE(c->log.members());
  settle(a, again, c);
  ASSERT_TRUE(a->log.members());
  ASSERT_TRUE(c->log.members());
  ASSERT_TRUE(again->log.members());
}

TEST_F(RosterLogTest, FormerSelfThatStillLivesFails) {
  auto a = start(0, 2);
  auto old = start(1, 2);
  step(*old, 2);
  start(1, 2);
  step(*old);
  ASSERT_TRUE(old->log.failure());
  EXPECT_THAT(*old->log.failure(), HasSubstr("start 3"));
  EXPECT_THAT(*old->log.failure(), HasSubstr("its own prefix"));
}

TEST_F(RosterLogTest, RanksThatDisagreeOnTheSizeAllFail) {
  auto a = start(0, 2);
  auto b = start(1, 3);
  settle(a, b);
  for (const auto* rank : {a.get(), b.get()}) {
    ASSERT_TRUE(rank->log.failure());
    EXPECT_THAT(*rank->log.failure(), HasSubstr("rank 1 (start 2)"));
    EXPECT_THAT(*rank->log.failure(), HasSubstr("size 3"));
  }
}

TEST_F(RosterLogTest, EarlierRunOfAnotherSizeDoesNotMatter) {
  start(0, 8);
  start(5, 8);
  auto a = start(0, 2);
  auto b = start(1, 2);
  settle(a, b);
  EXPECT_TRUE(a->log.members());
  EXPECT_TRUE(b->log.members());
}

// The first rank that a job of this size does not have.
TEST_F(RosterLogTest, TheRankBehindTheLastDoesNotMatter) {
  auto other = start(2, 3);
  auto a = start(0, 2);
  step(*a);
  EXPECT_EQ(a->log.malformed(), 0u);
  write({{"kind", "here"},
         {"rank", "2"},
         {"size", "2"},
         {"nonce", nonce()},
         {"call", nonceOf(*a)}});
  step(*a);
  EXPECT_EQ(a->log.malformed(), 1u);
  auto b = start(1, 2);
  settle(a, b);
  EXPECT_TRUE(a->log.members());
  EXPECT_TRUE(b->log.members());
}

TEST_F(RosterLogTest, RankZeroGivesUpForAll) {
  auto a = start(0, 3);
  auto b = start(1, 3);
  settle(a, b);
  write(a->log.failedEntry("reason"));
  step(*b);
  EXPECT_EQ(b->log.failure().value_or(""), "reason");
  auto later = start(1, 3);
  step(*later);
  EXPECT_FALSE(later->log.failure());
}

TEST_F(RosterLogTest, MissingRanksAreNamed) {
  auto a = start(0, 4);
  auto b = start(1, 4);
  settle(a, b);
  EXPECT_THAT(a->log.missing(), HasSubstr("never came: rank 2, 3"));
  EXPECT_THAT(b->log.missing(), HasSubstr("never came: rank 2, 3"));
}

TEST_F(RosterLogTest, StaleEntriesKeepThoseThatSlowRanksStillRead) {
  auto old0 = start(0, 2);  // entry 0
  auto old1 = start(1, 2);  // entry 1
  settle(old0, old1);       // entries 2 (here) and 3 (roster)
  auto b = start(1, 2);     // entry 4
  auto a = start(0, 2);     // entry 5
  settle(a, b);
  ASSERT_TRUE(a->log.members());
  const auto stale = a->log.staleEntries();
  EXPECT_THAT(stale, ::testing::ElementsAre("0", "1", "2", "3"));
}

TEST_F(RosterLogTest, NonsenseIsCountedAndChangesNothing) {
  std::mt19937 random(7);
  const char* kinds[] = {"join", "here", "roster", "failed", "x", ""};
  const char* values[] = {"", "0", "1", "-1", "99999999999", "abc", "2"};
  auto a = start(0, 2);
  for (int i = 0; i < 2000; i++) {
    RosterLog::Fields fields{{"kind", kinds[random() % 6]}};
    for (const char* name : {"rank", "size", "nonce", "call", "payload"}) {
      if (random() % 3 != 0) {
        fields.emplace_back(name, values[random() % 7]);
      }
    }
    write(fields);
  }
  auto b = start(1, 2);
  settle(a, b);
  EXPECT_TRUE(a->log.members());
  EXPECT_TRUE(b->log.members());
  EXPECT_GT(a->log.malformed(), 0u);
}

// Ranks read one entry at a time in a random order, so any write can come
// between another rank's read and its answer. Now and then one crashes and
// starts again. In every case a start is in at most one roster. If some ranks
// get no roster, the reason is the crash of a start that had been agreed on.
class RosterLogChaosTest : public RosterLogTest {
 protected:
  void run(unsigned seed) {
    std::mt19937 random(seed);
    const int size = 1 + static_cast<int>(random() % 5);
    const unsigned crashOneIn = 5 + random() % 100;
    std::vector<std::unique_ptr<Rank>> alive(static_cast<size_t>(size));
    for (int events = 0; events < 300; events++) {
      const auto rank = random() % alive.size();
      auto& process = alive[rank];
      if (!process || random() % crashOneIn == 0) {
        process = start(static_cast<int>(rank), size);
      } else {
        step(*process, 1);
        note(*process);
      }
    }
    for (auto& process : alive) {
      if (!process) {
        process = start(static_cast<int>(&process - alive.data()), size);
      }
    }
    size_t written = 0;
    do {
      written = stream_.size();
      for (auto& process : alive) {
        step(*process);
        note(*process);
      }
    } while (written != stream_.size());
    for (auto& process : alive) {
      EXPECT_FALSE(process->log.failure());
      EXPECT_TRUE(process->log.members() || agreedWithTheDead(alive));
    }
  }

  void note(Rank& process) {
    if (!process.log.members()) {
      return;
    }
    std::vector<std::string> roster;
    for (const auto& member : *process.log.members()) {
      roster.push_back(member.nonce);
    }
    for (const auto& nonce : roster) {
      const auto& known = rosterOf_.emplace(nonce, roster).first->second;
      EXPECT_EQ(known, roster) << "a start is in two rosters";
    }
  }

  // Some rank's roster holds a start that has crashed since. Its successor
  // joined only after the roster had been written.
  bool agreedWithTheDead(
      const std::vector<std::unique_ptr<Rank>>& alive) const {
    std::map<std::string, size_t> joins;
    for (size_t i = 0; i < stream_.size(); i++) {
      const auto& nonce = stream_[i].field("nonce");
      if (stream_[i].field("kind") == "join") {
        joins[nonce] = i;
      } else if (stream_[i].field("kind") == "roster" &&
                 rosterOf_.count(nonce) > 0) {
        for (size_t rank = 0; rank < alive.size(); rank++) {
          const auto& now = nonceOf(*alive[rank]);
          if (rosterOf_.at(nonce).at(rank) != now &&
              (joins.count(now) == 0 || joins.at(now) > i)) {
            return true;
          }
        }
      }
    }
    return false;
  }

  std::map<std::string, std::vector<std::string>> rosterOf_;
};

TEST_F(RosterLogChaosTest, AStartIsInAtMostOneRoster) {
  for (unsigned seed = 1; seed <= 3000 && !HasFailure(); seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    stream_.clear();
    rosterOf_.clear();
    run(seed);
  }
}

}  // namespace
}  // namespace rendezvous
}  // namespace gloo
