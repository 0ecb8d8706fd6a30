// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/size_classes.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/transport_ubt/core/one_rank.h"

namespace ubt {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kPrompt{0};  // deadlines are noticed at once
constexpr Duration kLimit = seconds(5);

// A session that sends and receives nothing.
class Alone : public OpHost {
 public:
  void control(TimePoint, int, const ControlRecord&, bool) override {}
  Duration retryAfter(int) const override { return seconds(1); }
  Duration lossAfter(TimePoint, int) const override { return seconds(1); }
  TimePoint lastHeard(int) const override { return {}; }
  bool isSilent(int) const override { return false; }
  std::string silence(int) const override { return {}; }
  bool hearsMulticast(int) const override { return false; }
  bool makeRoom(int /*asker*/, size_t /*more*/) override { return false; }
};

// Without repair, so that a call has a bound of its own.
class SizeClassesTest : public ::testing::Test {
 protected:
  SizeClassesTest() { options_.repair = RepairPolicy::kNone; }
  Op::Setup setupOf(uint64_t elements) {
    Op::Setup setup;
    setup.shape = floats(elements);
    setup.options = &options_;
    setup.reduction = &reduction_;
    setup.arena = &arena_;
    setup.host = &host_;
    return setup;
  }
  // One slot from rank 1.
  static void data(
      Op* op, TimePoint now, Stage stage, uint32_t slot, size_t bytes) {
    PacketHeader header;
    header.stage = stage;
    header.source = 1;
    header.slot = slot;
    header.elements = static_cast<uint32_t>(op->shape().elements);
    header.contributors = 2;
    const std::vector<std::byte> payload(bytes);
    op->data(now, header, payload.data(), payload.size());
  }
  // An op of this many floats returns at rank 0 of 2. Both stages complete
  // after `took`; zero: neither completes. REQUIRES elements a multiple of 64.
  void returned(uint64_t elements, Duration took) {
    Op::Setup setup = setupOf(elements);
    // A slot of the shard of 2 x elements bytes.
    const OpParts parts(setup.shape, {0, 2, elements, nullptr});
    const OpBounds bounds = this->bounds(elements);
    TimePoint now{seconds(1)};
    Op op(setup, parts, bounds, {});
    std::vector<float> bucket(elements);
    op.enter(now, bytesOf(bucket), Form::kPlain, bounds, {});
    for (const Stage stage : {Stage::kScatter, Stage::kBroadcast}) {
      if (took > Duration{0}) {
        data(&op, now, stage, 0, elements);
        now += took;
        data(&op, now, stage, 1, elements);
      }
    }
    const OpSample sample = op.sample();
    EXPECT_EQ(sample.scatter.took, took);
    EXPECT_EQ(sample.broadcast.took, took);
    classes_.returned(0, sample);
    classes_.done(sample);
  }

  // As returned(), but the last of a shard's ten slots misses the stage's
  // bound; the others take `took`. REQUIRES elements a multiple of 160.
  void nearlyReturned(uint64_t elements, Duration took, bool late) {
    Op::Setup setup = setupOf(elements);
    const OpParts parts(setup.shape, {0, 2, elements / 5, nullptr});
    const OpBounds bounds = this->bounds(elements);
    TimePoint now{seconds(1)};
    Op op(setup, parts, bounds, {});
    std::vector<float> bucket(elements);
    op.enter(now, bytesOf(bucket), Form::kPlain, bounds, {});
    for (const Stage stage : {Stage::kScatter, Stage::kBroadcast}) {
      for (uint32_t slot = 0; slot < 9; slot++) {
        data(&op,
             now + (slot == 0 ? Duration{0} : took),
             stage,
             slot,
             elements / 5);
      }
      now = op.nextDeadline();
      op.deadlinePassed(now);
      if (late) {
        data(&op, now, stage, 9, elements / 5);
      }
    }
    ASSERT_TRUE(op.finished());
    classes_.returned(0, op.sample());
    classes_.done(op.sample());
  }

  OpBounds bounds(uint64_t elements,
                  Duration lateness = kPrompt,
                  Duration limit = kLimit) {
    return classes_.boundsFor(floats(elements), {lateness}, limit);
  }

  // The bounds, set by hand, of an op that may take `limit`.
  OpBounds byHand(Duration scatter, Duration broadcast, Duration limit) {
    options_.warmupOps = 0;
    options_.boundScatter = scatter;
    options_.boundBroadcast = broadcast;
    return bounds(64, kPrompt, limit);
  }

  static void expect(const OpBounds& bounds,
                     Duration scatter,
                     Duration broadcast,
                     Duration end) {
    EXPECT_FALSE(bounds.warmup);
    EXPECT_EQ(bounds.scatter, scatter);
    EXPECT_EQ(bounds.broadcast, broadcast);
    EXPECT_EQ(bounds.end, end);
  }

  Options options_;
  const Reduction reduction_ = sim::plainReduction();
  Arena arena_{1 << 20};
  Alone host_;
  SizeClasses classes_{options_, 2};
};

// Warm-up --------------------------------------------------------------------

TEST_F(SizeClassesTest, WarmsUpFirst) {
  options_.warmupOps = 3;
  for (int op = 0; op < 3; op++) {
    EXPECT_TRUE(bounds(64).warmup);
    returned(64, milliseconds(8));
  }
  EXPECT_FALSE(bounds(64).warmup);
  EXPECT_FALSE(bounds(127).warmup);
}

TEST_F(SizeClassesTest, WarmUpMayTakeAsLongAsTheCall) {
  const OpBounds warmup = bounds(64);
  EXPECT_EQ(warmup.scatter, kLimit);
  EXPECT_EQ(warmup.broadcast, kLimit);
  EXPECT_EQ(warmup.end, kLimit);
}

TEST_F(SizeClassesTest, WarmsUpUntilStagesWereComplete) {
  options_.warmupOps = 1;
  for (int op = 0; op < 5; op++) {
    returned(64, Duration{0});
    EXPECT_TRUE(bounds(64).warmup);
  }
  returned(64, milliseconds(8));
  EXPECT_FALSE(bounds(64).warmup);
}

// Learned --------------------------------------------------------------------

TEST_F(SizeClassesTest, LearnsClassesApart) {
  options_.warmupOps = 1;
  returned(64, milliseconds(8));
  returned(128, milliseconds(40));
  // The median plus a quarter of it; and the sum of both stages.
  expect(bounds(64), milliseconds(10), milliseconds(10), milliseconds(20));
  expect(bounds(128), milliseconds(50), milliseconds(50), milliseconds(100));
}

// Of ten slots nine come in time; one comes after the bound or never.
TEST_F(SizeClassesTest, FollowsThePaceOfStagesThatAreNeverComplete) {
  options_.warmupOps = 1;
  returned(1600, milliseconds(80));
  for (const bool late : {true, false}) {
    for (int op = 0; op < 64; op++) {
      nearlyReturned(1600, milliseconds(late ? 36 : 18), late);
    }
    const Duration took = milliseconds(late ? 40 : 20);
    expect(bounds(1600), took * 5 / 4, took * 5 / 4, took * 5 / 2);
  }
}

// Borrowed -------------------------------------------------------------------

TEST_F(SizeClassesTest, AClassNotSeenYetBorrowsFromItsNeighbours) {
  options_.warmupOps = 1;
  EXPECT_TRUE(bounds(256).warmup);
  returned(64, milliseconds(8));
  // Four times the bytes, four times the bound.
  expect(bounds(256), milliseconds(40), milliseconds(40), milliseconds(80));
  // A smaller op does not take longer than a larger one.
  expect(bounds(32), milliseconds(10), milliseconds(10), milliseconds(20));
  returned(1024, milliseconds(16));
  expect(bounds(128), milliseconds(20), milliseconds(20), milliseconds(40));
  expect(bounds(512), milliseconds(20), milliseconds(20), milliseconds(40));
}

TEST_F(SizeClassesTest, AClassBorrowsUntilItHasWarmedUpItself) {
  options_.warmupOps = 2;
  returned(64, milliseconds(8));
  EXPECT_TRUE(bounds(128).warmup);  // no class has learned a bound yet
  returned(64, milliseconds(8));
  returned(128, milliseconds(12));
  expect(bounds(128), milliseconds(20), milliseconds(20), milliseconds(40));
  returned(128, milliseconds(12));
  expect(bounds(128), milliseconds(15), milliseconds(15), milliseconds(30));
}

// Patience -------------------------------------------------------------------

TEST_F(SizeClassesTest, PatienceIsAShareOfTheTimesOfAllRanks) {
  options_.warmupOps = 1;
  EXPECT_EQ(bounds(64).scatterPatience, Duration{0});  // while warming up
  returned(64, milliseconds(100));
  // Nothing was lost: one point off the first ten.
  EXPECT_EQ(bounds(64).scatterPatience, milliseconds(9));
  EXPECT_EQ(bounds(64).broadcastPatience, milliseconds(9));
  EXPECT_EQ(bounds(64, milliseconds(20)).scatterPatience, milliseconds(20));
  EXPECT_EQ(bounds(128).scatterPatience, Duration{0});  // nothing known of it
  // A bucket of 64 floats has 256 bytes. The upper of two medians counts: 8
  // hundredths of .95 x 100 + .05 x 300.
  classes_.sample(1, SizeClasses::of(256), {milliseconds(300), Duration{0}});
  returned(64, milliseconds(100));
  EXPECT_NEAR(bounds(64).scatterPatience / microseconds(1), 8800, 1);
  EXPECT_NEAR(bounds(64).broadcastPatience / microseconds(1), 8000, 1);
}

TEST_F(SizeClassesTest, PatienceEndsNoStageBeforeABoundSetByHand) {
  returned(64, milliseconds(100));
  EXPECT_EQ(byHand(milliseconds(1), milliseconds(2), kLimit).scatterPatience,
            Duration{0});
}

TEST_F(SizeClassesTest, PatienceCanBeSwitchedOff) {
  options_.warmupOps = 1;
  options_.early = false;
  returned(64, milliseconds(100));
  EXPECT_EQ(bounds(64).scatterPatience, Duration{0});
}

TEST_F(SizeClassesTest, LearnedBoundsAllowForLateness) {
  options_.warmupOps = 1;
  returned(64, milliseconds(8));
  expect(bounds(64, milliseconds(2)),
         milliseconds(12),
         milliseconds(12),
         milliseconds(24));
  expect(bounds(64, milliseconds(4)),
         milliseconds(16),
         milliseconds(16),
         milliseconds(32));
}

// Set by hand ----------------------------------------------------------------

TEST_F(SizeClassesTest, HandSetBoundsHoldWhateverWasLearned) {
  options_.warmupOps = 1;
  returned(64, milliseconds(8));
  expect(byHand(milliseconds(1), milliseconds(2), kLimit),
         milliseconds(1),
         milliseconds(2),
         milliseconds(3));
  expect(bounds(1 << 20, seconds(1)),  // lateness does not change them either
         milliseconds(1),
         milliseconds(2),
         milliseconds(3));
}

TEST_F(SizeClassesTest, HandSetBoundsWarmUpIfTold) {
  byHand(milliseconds(1), milliseconds(2), kLimit);
  options_.warmupOps = 1;
  EXPECT_TRUE(bounds(64).warmup);
  returned(64, milliseconds(8));
  EXPECT_FALSE(bounds(64).warmup);
}

// The call's end -------------------------------------------------------------

TEST_F(SizeClassesTest, WithoutRepairACallEndsWithItsStages) {
  expect(byHand(milliseconds(10), milliseconds(20), kLimit),
         milliseconds(10),
         milliseconds(20),
         milliseconds(30));
  options_.repair = RepairPolicy::kBroadcast;
  EXPECT_EQ(bounds(64).end, kLimit);
  options_.repair = RepairPolicy::kNone;
  options_.skipLoss = 0.1;
  EXPECT_EQ(bounds(64).end, kLimit);
}

TEST_F(SizeClassesTest, ContributionsAreRepairedForTwiceAllStages) {
  options_.repair = RepairPolicy::kBoth;
  expect(byHand(milliseconds(10), milliseconds(20), kLimit),
         milliseconds(60),
         milliseconds(20),
         kLimit);
}

TEST_F(SizeClassesTest, NoStageOutlastsHalfOfTheLimit) {
  const auto at = [this](int limitMs) {
    return byHand(milliseconds(100), milliseconds(20), milliseconds(limitMs));
  };
  const auto ms = [](int count) { return milliseconds(count); };
  expect(at(200), ms(100), ms(20), ms(120));
  expect(at(100), ms(50), ms(20), ms(70));
  expect(at(30), ms(15), ms(15), ms(30));
  options_.repair = RepairPolicy::kBroadcast;
  expect(at(480), ms(100), ms(20), ms(480));
  expect(at(100), ms(50), ms(20), ms(100));
  options_.repair = RepairPolicy::kBoth;
  expect(at(100), ms(50), ms(20), ms(100));
}

// In groups ------------------------------------------------------------------

class HierarchicalBounds : public SizeClassesTest {
 protected:
  OpBounds grouped(Duration limit) {
    options_.warmupOps = 0;
    options_.boundScatter = milliseconds(10);
    options_.boundBroadcast = milliseconds(20);
    OpShape shape = floats(64);
    shape.fingerprint |= OpShape::kHierarchical;
    return classes_.boundsFor(shape, {}, limit);
  }
};

TEST_F(HierarchicalBounds, ACallHasThreeStages) {
  const OpBounds bounds = grouped(kLimit);
  expect(bounds, milliseconds(10), milliseconds(20), milliseconds(50));
  EXPECT_EQ(bounds.exchange, milliseconds(20));
  EXPECT_EQ(this->bounds(64).exchange, Duration{0});  // of a plain op
}

TEST_F(HierarchicalBounds, NoStageOutlastsAThirdOfTheLimit) {
  const OpBounds bounds = grouped(milliseconds(30));
  expect(bounds, milliseconds(10), milliseconds(10), milliseconds(30));
  EXPECT_EQ(bounds.exchange, milliseconds(10));
}

}  // namespace
}  // namespace ubt
