// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/trace/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace ubt {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Milliseconds = std::chrono::duration<double, std::milli>;
using Random = std::mt19937_64;

constexpr int kRanks = 8;
constexpr uint32_t kSlots = 100;

Duration ms(double time) {
  return wholeNanoseconds(Milliseconds(time));
}

Duration throughAt(const StageRecord& stage) {
  Duration last{0};
  for (const StageRecord::Sender& sender : stage.senders) {
    last = std::max(
        last, sender.arrivals.empty() ? last : sender.completeAt(stage.slots));
  }
  return last;
}

// Ops of one context. entry(random, rank): when a rank enters. stall(random,
// owner): by how much all data to an owner is delayed from the middle on. A
// transfer takes 60 to 63 ms.
std::vector<RecordedOp> opsWith(
    size_t count,
    uint64_t seed,
    const std::function<double(Random&, int)>& entry,
    const std::function<double(Random&, int)>& stall) {
  Random random(seed);
  std::uniform_real_distribution<double> transfer(60, 63);
  std::vector<RecordedOp> ops;
  for (size_t op = 0; op < count; op++) {
    std::vector<double> entries;
    entries.reserve(kRanks);
    for (int rank = 0; rank < kRanks; rank++) {
      entries.push_back(entry(random, rank));
    }
    std::vector<double> sorted = entries;
    std::sort(sorted.begin(), sorted.end());
    const double start = sorted[kRanks / 2];
    RecordedOp stages;
    for (int owner = 0; owner < kRanks; owner++) {
      StageRecord stage;
      stage.context = 1;
      stage.op = std::to_string(op);
      stage.rank = owner;
      stage.slots = kSlots;
      const double stalled = stall(random, owner);
      for (int rank = 0; rank < kRanks; rank++) {
        StageRecord::Sender sender;
        sender.entered = true;
        sender.enteredAt = ms(entries[rank] - start);
        const double took = transfer(random);
        for (int tenth = 1; rank != owner && tenth <= 10; tenth++) {
          const double at = std::max(entries[rank] - start, 0.0) +
                            took * tenth / 10 + (tenth > 5 ? stalled : 0);
          sender.arrivals.push_back({rank, TimePoint(ms(at)), kSlots / 10});
        }
        stage.senders.push_back(sender);
      }
      stages.push_back(stage);
    }
    for (StageRecord& stage : stages) {  // the news takes a millisecond
      for (int rank = 0; rank < kRanks; rank++) {
        stage.senders[rank].throughAt = throughAt(stages[rank]) + ms(1);
      }
    }
    ops.push_back(stages);
  }
  return ops;
}

double inTime(Random& random, int) {
  return std::normal_distribution<double>(0, .5)(random);
}
double noStall(Random&, int) {
  return 0;
}

double msOf(Duration time) {
  return Milliseconds(time).count();
}

ReplayOptions withLateness() {
  ReplayOptions options;
  options.lateness = milliseconds(2);
  return options;
}

TEST(Replay, WithoutARuleAnOpTakesAsLongAsItsSlowestSender) {
  const auto ops = opsWith(50, 1, inTime, noStall);
  const Replayed exact = replayExact(ops, {});
  ASSERT_EQ(exact.took.size(), 30u);  // after the warm-up
  Duration slowest{0};
  for (const auto& stage : ops[20]) {
    slowest = std::max(slowest, throughAt(stage));
  }
  EXPECT_EQ(exact.took[0], slowest);
  EXPECT_EQ(exact.cutLate + exact.cutAbsent, 0);
}

TEST(Replay, AQuietNetworkLosesNothing) {
  const Replayed rule =
      replayRule(opsWith(500, 1, inTime, noStall), withLateness());
  EXPECT_EQ(rule.cutLate, 0);
  EXPECT_EQ(rule.cutAbsent, 0);
}

// At times data to one of the owners stands still.
double stalls(Random& random, int) {
  return std::bernoulli_distribution(.02)(random)
             ? std::uniform_real_distribution<double>(20, 150)(random)
             : 0;
}

TEST(Replay, TheRuleSavesNearlyAsMuchAsTheBestConstant) {
  for (const uint64_t seed : {1, 2, 3}) {
    const auto ops = opsWith(2000, seed, inTime, stalls);
    const ReplayOptions options = withLateness();
    const Replayed exact = replayExact(ops, options);
    const Replayed rule = replayRule(ops, options);
    EXPECT_LE(rule.cutLate, 1.05 * options.budget);
    EXPECT_EQ(rule.cutAbsent, 0);
    const Replayed best =
        replayFixed(ops, options, bestFactor(ops, options, rule.cutLate));
    EXPECT_LE(best.cutLate, rule.cutLate);
    EXPECT_GE(exact.slowTenth() - rule.slowTenth(),
              .8 * (exact.slowTenth() - best.slowTenth()))
        << "seed " << seed;
    EXPECT_LT(rule.slowTenth(), .7 * exact.slowTenth());
  }
}

// Data to all owners is slow at the same time.
TEST(Replay, ANetworkThatIsSlowForAllIsNotCut) {
  bool slow = false;
  const auto ops = opsWith(500, 1, inTime, [&slow](Random& random, int owner) {
    if (owner == 0) {
      slow = std::bernoulli_distribution(.1)(random);
    }
    return slow ? 200.0 : 0.0;
  });
  EXPECT_EQ(replayRule(ops, withLateness()).cutLate, 0);
}

TEST(Replay, JitterOfEntriesIsNotCut) {
  const auto ops = opsWith(
      2000,
      1,
      [](Random& random, int) {
        return std::normal_distribution<double>(0, 5)(random);
      },
      noStall);
  EXPECT_LT(replayRule(ops, withLateness()).cutAbsent, .001);
}

double oftenLate(Random& random, int rank) {
  return rank == 3 && std::bernoulli_distribution(.1)(random)
             ? 300
             : inTime(random, rank);
}

TEST(Replay, ARankThatIsLateAtTimesIsCutAtOnce) {
  const auto ops = opsWith(2000, 1, oftenLate, noStall);
  const Replayed exact = replayExact(ops, withLateness());
  const Replayed rule = replayRule(ops, withLateness());
  EXPECT_NEAR(rule.cutAbsent, .1 / kRanks, .002);
  EXPECT_EQ(rule.cutLate, 0);
  EXPECT_GT(msOf(exact.slowTenth()), 300);
  EXPECT_LT(msOf(rule.slowTenth()), 75);
}

TEST(Replay, ARankThatIsAlwaysLateIsWaitedFor) {
  const auto ops = opsWith(
      500,
      1,
      [](Random& random, int rank) {
        return rank == 3 ? 50.0 : inTime(random, rank);
      },
      noStall);
  const Replayed rule = replayRule(ops, withLateness());
  EXPECT_EQ(rule.cutAbsent, 0);
  EXPECT_EQ(rule.cutLate, 0);
}

// Each rank is late in a tenth of its ops, so most ops have a late rank. The
// budget pays for some of them.
TEST(Replay, TheBudgetIsKeptWhereAllRanksAreLateAtTimes) {
  const auto ops = opsWith(
      2000,
      1,
      [](Random& random, int rank) {
        return std::bernoulli_distribution(.1)(random) ? 300
                                                       : inTime(random, rank);
      },
      noStall);
  const ReplayOptions options = withLateness();
  const Replayed rule = replayRule(ops, options);
  EXPECT_LE(rule.cutLate + rule.cutAbsent, 1.02 * options.budget);
  EXPECT_GT(rule.cutAbsent, .9 * options.budget);
}

TEST(Replay, ARankThatHangsIsWaitedForOnceTheBudgetIsSpent) {
  // Its time becomes the usual one after some 48 such ops.
  int op = 0;
  const auto ops = opsWith(
      160,
      1,
      [&op](Random& random, int rank) {
        op += rank == 3;
        return rank == 3 && op > 120 ? 10000.0 : inTime(random, rank);
      },
      noStall);
  const Replayed rule = replayRule(ops, withLateness());
  // Half an op's contributions, and what is earned in 40 ops. The other ops are
  // as long as the rank is late.
  EXPECT_GT(rule.cutAbsent * 140, .5);
  EXPECT_LE(rule.cutAbsent * 140, .5 + 40 * .025 + .01);
  EXPECT_GT(rule.slowTenth(), seconds(10));
}

TEST(Replay, OpsThatSomeRankDidNotRecordAreLeftOut) {
  auto ops = opsWith(3, 1, inTime, noStall);
  std::vector<StageRecord> records;
  for (int rank = kRanks - 1; rank >= 0; rank--) {
    for (size_t op = 0; op < ops.size(); op++) {
      if (op != 1 || rank != 2) {
        records.push_back(ops[op][rank]);
      }
    }
  }
  ops[2][4].context = 2;  // of another context
  records.push_back(ops[2][4]);
  const auto found = opsOf(records);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].size(), 2u);
  EXPECT_EQ(found[0][0][5].rank, 5);
  EXPECT_EQ(found[0][1][0].op, "2");
}

}  // namespace
}  // namespace ubt
