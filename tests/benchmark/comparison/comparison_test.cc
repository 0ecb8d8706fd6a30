// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/comparison.h"

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "transport_ubt/gloo_compat.h"

namespace gloo {
namespace compare {
namespace {

using namespace std::chrono_literals;

// With one rank the sum is its contribution. Records its name at every run.
class Recorded : public AllreduceUnderTest {
 public:
  Recorded(char name, std::chrono::milliseconds takes, std::string* runs)
      : name_(name), takes_(takes), runs_(runs) {}
  void run() override {
    runs_->push_back(name_);
    const auto end = std::chrono::steady_clock::now() + takes_;
    while (std::chrono::steady_clock::now() < end) {
    }
  }

 private:
  const char name_;
  const std::chrono::milliseconds takes_;
  std::string* const runs_;
};

class ComparisonTest : public ::testing::Test {
 protected:
  ComparisonTest() {
    auto context = std::make_shared<rendezvous::Context>(0, 1);
    rendezvous::HashStore store;
    auto device = transport::tcp::CreateDevice("127.0.0.1");
    context->connectFullMesh(compat::borrowed(store), device);
    context_ = context;
  }

  Contender contender(char name, std::chrono::milliseconds takes) {
    AlgorithmSpec spec{};
    spec.name = name;
    spec.warmupRuns = 0;
    spec.create = [=](const std::shared_ptr<Context>&, float*, size_t) {
      return std::make_unique<Recorded>(name, takes, &runs_);
    };
    return {spec, context_};
  }

  std::shared_ptr<Context> context_;
  std::string runs_;
};

TEST_F(ComparisonTest, TakesTurns) {
  ControlChannel control(context_);
  const std::vector<Contender> contenders = {contender('A', 0ms),
                                             contender('B', 0ms)};
  Comparison comparison(control, contenders, 10, {});
  comparison.run(0s, [](const Comparison::Progress&) {});
  runs_.erase(std::unique(runs_.begin(), runs_.end()), runs_.end());
  // Once in warm-up, then at least three rounds.
  EXPECT_EQ(0u, runs_.find("ABABABAB")) << runs_;
}

TEST_F(ComparisonTest, GivesAllTheSameTime) {
  ControlChannel control(context_);
  const std::vector<Contender> contenders = {contender('A', 0ms),
                                             contender('B', 20ms)};
  Comparison comparison(control, contenders, 10, {});
  const auto measured =
      comparison.run(500ms, [](const Comparison::Progress&) {});
  EXPECT_GT(measured[0].slowestUs.size(), 2 * measured[1].slowestUs.size());
  EXPECT_TRUE(measured[0].verified);
  // A step is the iteration and what lies between two.
  ASSERT_EQ(measured[1].stepUs.size(), measured[1].slowestUs.size());
  for (size_t i = 0; i < measured[1].stepUs.size(); i++) {
    EXPECT_GE(measured[1].stepUs[i], measured[1].slowestUs[i]);
  }
}

TEST_F(ComparisonTest, ReportsTurnsWhileNoRankWorks) {
  ControlChannel control(context_);
  const std::vector<Contender> contenders = {contender('A', 0ms),
                                             contender('B', 0ms)};
  Comparison::Options options;
  size_t runsAtBegin = 0;
  size_t turns = 0;
  options.atTurn = [&](const Comparison::Turn& turn) {
    if (turn.begins) {
      runsAtBegin = runs_.size();
      return;
    }
    EXPECT_EQ(runsAtBegin + turn.iterations, runs_.size());
    EXPECT_EQ(turn.contender == 0 ? 'A' : 'B', runs_.back());
    turns++;
  };
  Comparison comparison(control, contenders, 10, options);
  const auto measured = comparison.run(0s, [](const Comparison::Progress&) {});
  EXPECT_GE(turns, 6u);
  // One iteration of each turn is untimed, and so are two of warm-up.
  EXPECT_EQ(runs_.size() - 2 - turns,
            measured[0].slowestUs.size() + measured[1].slowestUs.size());
}

TEST_F(ComparisonTest, TakesTurnsAsLongAsAsked) {
  ControlChannel control(context_);
  const std::vector<Contender> contenders = {contender('A', 5ms)};
  Comparison::Options options;
  options.turnTime = 100ms;
  size_t longest = 0;
  options.atTurn = [&](const Comparison::Turn& turn) {
    longest = std::max(longest, turn.iterations);
  };
  Comparison comparison(control, contenders, 10, options);
  comparison.run(500ms, [](const Comparison::Progress&) {});
  EXPECT_GT(longest, 3u);  // the first turn's length
  EXPECT_LE(longest, 21u);
}

TEST_F(ComparisonTest, ReportsProgressDuringLongTurns) {
  ControlChannel control(context_);
  const std::vector<Contender> contenders = {contender('A', 5ms)};
  Comparison::Options options;
  options.turnTime = 2 * Comparison::kProgressTime;
  bool inTurn = false;
  options.atTurn = [&](const Comparison::Turn& turn) { inTurn = turn.begins; };
  size_t reports = 0;
  Comparison comparison(control, contenders, 10, options);
  comparison.run(1s, [&](const Comparison::Progress& progress) {
    reports += inTurn;
    EXPECT_EQ(runs_.size() - 1, progress.iterations);  // without warm-up
  });
  EXPECT_GE(reports, 1u);
}

// In how many of the first iterations each of four ranks is late.
std::array<size_t, 4> lateIterations(const LateRanks& lateness,
                                     size_t iterations) {
  std::array<size_t, 4> late{};
  for (size_t i = 0; i < iterations; i++) {
    for (int rank = 0; rank < 4; rank++) {
      late[rank] += lateness.isLate(rank, i, 4);
    }
  }
  return late;
}

TEST(LatenessTest, IsTheSameAgainAndAsOftenAsAsked) {
  LateRanks lateness;
  lateness.who = LateRanks::Who::kOne;
  lateness.rank = 2;
  lateness.share = .1;
  lateness.seed = 7;
  const auto late = lateIterations(lateness, 10000);
  EXPECT_EQ(late, lateIterations(lateness, 10000));
  EXPECT_NEAR(1000, late[2], 150);
  EXPECT_EQ(late[2], late[0] + late[1] + late[2] + late[3]);
  EXPECT_FALSE(LateRanks().isLate(2, 5, 4));
}

TEST(LatenessTest, AnyoneIsEachRankButTheFirstAlike) {
  LateRanks lateness;
  lateness.who = LateRanks::Who::kAny;
  lateness.share = .3;
  const auto late = lateIterations(lateness, 10000);
  EXPECT_EQ(0, late[0]);
  for (const int rank : {1, 2, 3}) {
    EXPECT_NEAR(1000, late[rank], 150);
  }
  EXPECT_FALSE(lateness.isLate(0, 5, 1));
}

TEST(LatenessTest, EachRankIsLateForItselfButNeverAllAtOnce) {
  LateRanks lateness;
  lateness.who = LateRanks::Who::kEach;
  lateness.share = .3;
  constexpr int kRanks = 4;
  for (const size_t late : lateIterations(lateness, 10000)) {
    EXPECT_NEAR(10000 * (.3 - .3 * .3 * .3 * .3), late, 250);
  }
  size_t together = 0;
  for (size_t i = 0; i < 10000; i++) {
    int late = 0;
    for (int rank = 0; rank < kRanks; rank++) {
      late += lateness.isLate(rank, i, kRanks);
    }
    EXPECT_LT(late, kRanks);
    together += late > 1;
  }
  EXPECT_NEAR(3402, together, 250);  // two or three of four
}

TEST(LatenessTest, SeedsDiffer) {
  LateRanks one;
  one.who = LateRanks::Who::kOne;
  one.rank = 0;
  one.share = .5;
  LateRanks other = one;
  other.seed = 1;
  size_t alike = 0;
  for (size_t i = 0; i < 1000; i++) {
    alike += one.isLate(0, i, 4) == other.isLate(0, i, 4);
  }
  EXPECT_NEAR(500, alike, 100);
}

TEST_F(ComparisonTest, ALateRanksTimesDoNotCount) {
  ControlChannel control(context_);
  const std::vector<Contender> contenders = {contender('A', 1ms)};
  Comparison::Options options;
  options.lateness.who = LateRanks::Who::kOne;
  options.lateness.rank = 0;
  options.lateness.share = 1;
  options.lateness.time = 1ms;
  Comparison comparison(control, contenders, 10, options);
  const auto measured = comparison.run(0s, [](const Comparison::Progress&) {});
  for (const double us : measured[0].slowestUs) {
    EXPECT_EQ(0, us);  // there is no other rank
  }
}

}  // namespace
}  // namespace compare
}  // namespace gloo
