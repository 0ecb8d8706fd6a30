// SPDX-License-Identifier: Apache-2.0
//
// The window that follows delivery (DeliveryWindow), and the repair of lost
// packet numbers, on a simulated network.

#include "tests/sim/run_checked.h"
#include "transport_ubt/core/base/percentile.h"

namespace ubt::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Links of 10 Gbit/s.
SimOptions job() {
  SimOptions options;
  options.ranks = 8;
  options.ops = 40;
  options.oneShape = true;
  options.elementsMax = 250000;
  options.windowBytes = 16 << 20;
  options.windowBytesMin = 16 << 10;
  options.queueBytes = 16 << 20;
  options.lateness = microseconds(100);
  options.protocol.warmupOps = 20;
  options.protocol.hadamard = Hadamard::kNever;
  options.protocol.timeout = seconds(20);
  return options;
}

Duration median(const SimOptions& options) {
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  return percentile(result.opTimes, 0.5);
}

void withoutData(SimOptions* options) {
  options->noData = true;
  options->checkResults = false;
}

// They arrive up to 20 datagrams late, and nothing of theirs is repeated.
TEST(Window, OvertakenDatagramsCostLittle) {
  SimOptions options = job();
  const Duration inOrder = median(options);
  options.reorder = 0.05;
  options.reorderBy = microseconds(24);
  EXPECT_LT(median(options), inOrder * 21 / 20);
}

// Times of two hosts are never compared, so it does not matter that their
// clocks run apart by up to 500 ppm.
TEST(Window, ClocksThatRunApartCostNothing) {
  SimOptions options = job();
  withoutData(&options);
  const Duration alike = median(options);
  options.faults.clocks.offset = seconds(1);
  options.faults.clocks.rate = 0.0005;
  EXPECT_LT(median(options), alike * 101 / 100);
}

// A host polls so seldom that its link could fill its socket more than twice in
// between. The window is as large as the socket's buffer. Polls then find it
// almost full.
TEST(Window, ASmallReceiveBufferIsUsedWell) {
  SimOptions options = job();
  withoutData(&options);
  options.ops = 26;
  options.elementsMax = 1000000;
  options.wakesEvery = microseconds(10);
  options.faults.inbox.bytesMax = options.windowBytes = 208 << 10;
  options.faults.inbox.polls = 0;
  options.faults.inbox.pollsEvery = microseconds(400);
  const double bytes = 4.0 * options.elementsMax * 2 * 7 / 8;
  const double fullPolls = bytes / static_cast<double>(208 << 10);
  EXPECT_LE(median(options), fullPolls / 0.8 * options.faults.inbox.pollsEvery);
}

// How long a downlink was idle while ranks that had entered owed its host
// contributions: the longest time of all ops and owners.
Duration idleWhileOwed(const SimOptions& options) {
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.errors, 0u);
  EXPECT_FALSE(result.traces.empty());
  Duration longest{0};
  for (const SimResult::Trace& trace : result.traces) {
    const std::vector<OpTrace::Arrival>& arrivals = trace.arrivals->arrivals;
    for (const Network::Idle& idle : result.idle) {
      if (idle.rank == trace.rank && idle.from >= arrivals.front().at &&
          idle.until <= arrivals.back().at) {
        longest = std::max(longest, idle.until - idle.from);
      }
    }
  }
  return longest;
}

// A round trip includes one train each way.
Duration roundTrip(const SimOptions& options) {
  const std::chrono::duration<double> train((64 << 10) /
                                            options.bytesPerSecond);
  return 2 * (options.delay + wholeNanoseconds(train));
}

TEST(Window, ADownlinkIsHardlyIdleWhileItIsOwedData) {
  for (const double gigabits : {10, 100, 400}) {
    SimOptions options = job();
    withoutData(&options);
    options.ops = 30;
    options.protocol.trace = true;
    options.bytesPerSecond = gigabits * 1.25e8;
    EXPECT_LE(idleWhileOwed(options), roundTrip(options) + 2 * options.lateness)
        << gigabits;
    options.loss = 0.0001;
    EXPECT_LE(idleWhileOwed(options), roundTrip(options) + 2 * options.lateness)
        << gigabits;
  }
}

// A gap in packet numbers tells soon what was lost, and requests follow the
// round trip.
TEST(Window, LostResultsComeSoon) {
  SimOptions options = job();
  const Duration without = median(options);
  options.loss = 0.01;
  EXPECT_LT(median(options), without * 2);
}

// One datagram is lost in each op, more or less.
TEST(Window, ALostSlotCostsAFewRoundTripsOnAnyLink) {
  for (const double gigabits : {10, 100, 400}) {
    SimOptions options = job();
    withoutData(&options);
    options.ops = 100;
    options.bytesPerSecond = gigabits * 1.25e8;
    const Duration without = median(options);
    options.loss = 0.0001;
    const SimResult result = runChecked(options);
    EXPECT_LE(percentile(result.opTimes, 0.9),
              without + 3 * (roundTrip(options) + options.lateness))
        << gigabits;
  }
}

// For a second, one in twenty datagrams is lost. Smaller windows do not lessen
// that, and small ones have to grow again.
TEST(Window, ComesBackAfterRandomLoss) {
  SimOptions options = job();
  withoutData(&options);
  options.ranks = 4;
  options.ops = 300;
  options.elementsMax = 100000;
  options.bytesPerSecond = 6.25e7;
  options.windowBytes = 256 << 10;
  options.windowBytesMin = 8 << 10;
  options.lateness = microseconds(500);
  options.protocol.repair = RepairPolicy::kNone;
  const Duration without = median(options);
  options.loss = 0.05;
  options.lossAt = seconds(1);
  options.lossFor = seconds(1);
  const SimResult result = runChecked(options);
  ASSERT_GT(result.opTimes.size(), 200u);
  EXPECT_LT(percentile({result.opTimes.end() - 40, result.opTimes.end()}, 0.5),
            without * 11 / 10);
}

// Trains get lost now and then, whole. Each is a large share of a window, but
// says nothing about it. Slots that nobody repeats cost no wait.
TEST(Window, TrainsLostAtRandomCostLittle) {
  for (const RepairPolicy repair :
       {RepairPolicy::kBroadcast, RepairPolicy::kNone}) {
    SimOptions options = job();
    options.protocol.repair = repair;
    withoutData(&options);
    options.ops = 80;
    options.elementsMax = 1000000;
    options.bytesPerSecond = 6.25e7;
    options.queueBytes = 512 << 10;
    options.trainBytes = 64256;
    options.lateness = microseconds(500);
    const Duration without = median(options);
    options.loss = 0.001;
    EXPECT_LT(median(options), without * 103 / 100);
  }
}

// Nobody else uses the links. So marks tell only of the delay in queues that
// this job fills.
TEST(Window, MarksOfOwnQueuesCostNothing) {
  SimOptions options = job();
  withoutData(&options);
  options.elementsMax = 1000000;
  options.queueBytes = 192 << 10;
  const SimResult losing = runChecked(options);
  options.markBytes = options.queueBytes / 3;
  const SimResult marking = runChecked(options);
  EXPECT_GT(marking.counters.get(Counter::kCongested), 0u);
  EXPECT_GT(losing.faults.get(Fault::kFullQueue), 100u);
  EXPECT_LT(percentile(marking.opTimes, 0.5),
            percentile(losing.opTimes, 0.5) * 102 / 100);
}

// 4 ranks on links of 2 Gbit/s, whose queues hold 2 ms. An op needs 101 ms. If
// senders get much credit at a time, their bursts meet in a queue, and the
// window that shrinks then is too small for the link.
TEST(Window, BurstsDoNotMeetInAQueue) {
  for (const uint64_t seed : {1, 2}) {
    for (const Duration looks : {microseconds(100), microseconds(600)}) {
      SimOptions options = job();
      options.seed = seed;
      options.ranks = 4;
      options.elementsMax = 4000000;
      options.slotBytes = 1344;
      options.bytesPerSecond = 250e6;
      options.queueBytes = 512 << 10;
      options.trainBytes = 64256;
      options.socketBytes = 128 << 10;
      options.delay = microseconds(20);
      options.wakesEvery = looks;
      options.lateness = milliseconds(1);
      options.windowBytes = 2 << 20;
      options.windowBytesMin = 64 << 10;
      withoutData(&options);
      EXPECT_LT(median(options), milliseconds(106)) << seed;
    }
  }
}

}  // namespace
}  // namespace ubt::sim
