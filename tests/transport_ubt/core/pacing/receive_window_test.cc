// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/pacing/receive_window.h"

#include <gtest/gtest.h>

#include "transport_ubt/core/pacing/queueing_delay.h"

namespace ubt {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kNow{seconds(100)};
constexpr uint64_t kMin = 1000;
constexpr uint64_t kMax = 10000;
constexpr uint64_t kSlot = 100;

// `windows` windows, one in each kRecovery. Each datagram has this queueing
// delay.
void pass(ReceiveWindow* window, Duration delay, int windows) {
  static TimePoint now = kNow;
  while (windows-- > 0) {
    now += ReceiveWindow::kRecovery;
    for (uint64_t left = window->bytes(); left > 0;
         left -= std::min(left, kSlot)) {
      window->delayed(delay);
      window->arrived(now, kSlot);
    }
  }
}

ReceiveWindow started(uint64_t bytes) {
  ReceiveWindow window(kMin, kMax);
  window.start(bytes, kSlot);
  return window;
}

TEST(ReceiveWindow, StartsWithTheAnnouncedSizeUpToItsMaximum) {
  EXPECT_EQ(started(5000).bytes(), 5000u);
  EXPECT_EQ(started(50000).bytes(), kMax);
  auto window = started(5000);
  window.start(2000, kSlot);  // another session's
  EXPECT_EQ(window.bytes(), 5000u);
}

TEST(ReceiveWindow, StartsWithSomeSlotsForEachSenderWhereSlotsAreLarge) {
  constexpr uint64_t kMost = 2 << 20;
  EXPECT_EQ(ReceiveWindow::startOf(kMost, 7, 1440), 448u << 10);
  EXPECT_EQ(ReceiveWindow::startOf(kMost, 7, 60000), 4u * 7 * 60000);
  EXPECT_EQ(ReceiveWindow::startOf(100000, 7, 60000), 100000u);
}

TEST(ReceiveWindow, HoldsSomeSlotsHoweverLargeTheyAre) {
  ReceiveWindow window(kMin, kMax);
  window.start(5000, 1000);
  for (int i = 0; i < 100; i++) {
    window.lost(kNow + i * ReceiveWindow::kRecovery, 1000);
  }
  EXPECT_EQ(window.bytes(), 4000u);
}

TEST(ReceiveWindow, ShrinksOnLossOncePerRecovery) {
  auto window = started(kMax);
  window.lost(kNow, kSlot);
  window.lost(kNow + milliseconds(1), kSlot);
  EXPECT_EQ(window.bytes(), 8000u);
  for (int i = 0; i < 100; i++) {
    window.lost(kNow + (i + 1) * ReceiveWindow::kRecovery, kSlot);
  }
  EXPECT_EQ(window.bytes(), kMin);
}

TEST(ReceiveWindow, GrowsWhileDatagramsHardlyWait) {
  auto window = started(5000);
  pass(&window, microseconds(100), 1);
  EXPECT_EQ(window.bytes(), 5000u + 5000 / 32);
  pass(&window, microseconds(100), 100);
  EXPECT_EQ(window.bytes(), kMax);
}

TEST(ReceiveWindow, StaysWhileTheyWait) {
  auto window = started(5000);
  pass(&window, ReceiveWindow::kLow, 50);
  pass(&window, ReceiveWindow::kHigh, 50);
  EXPECT_EQ(window.bytes(), 5000u);
}

TEST(ReceiveWindow, GrowsNoFasterBecauseItIsSmall) {
  auto window = started(5000);
  for (int i = 0; i < 1000; i++) {
    window.delayed(microseconds(100));
    window.arrived(kNow, kSlot);
  }
  EXPECT_EQ(window.bytes(), 5000u + 5000 / 32);
}

TEST(ReceiveWindow, ReturnsFastToItsFirstSize) {
  auto window = started(5000);
  // Others' traffic causes this delay, and so the next loss.
  pass(&window, ReceiveWindow::kHigh, 1);
  window.lost(kNow, kSlot);
  pass(&window, ReceiveWindow::kMiddle, 50);
  EXPECT_EQ(window.bytes(), 4000u);
  pass(&window, ReceiveWindow::kLow, 1);
  EXPECT_EQ(window.bytes(), 4500u);
  pass(&window, ReceiveWindow::kLow, 50);
  EXPECT_EQ(window.bytes(), 5000u);
}

TEST(ReceiveWindow, ReturnsToLessWhereAShortQueueIsFull) {
  auto window = started(5000);
  pass(&window, ReceiveWindow::kLow, 1);
  window.lost(kNow, 5 * kSlot);
  EXPECT_EQ(window.bytes(), 4000u);
  pass(&window, ReceiveWindow::kLow, 50);
  EXPECT_EQ(window.bytes(), 4500u);
  window.lost(kNow + seconds(1), 5 * kSlot);
  EXPECT_EQ(window.bytes(), 3600u);
  pass(&window, ReceiveWindow::kLow, 50);
  EXPECT_EQ(window.bytes(), 4050u);
}

TEST(ReceiveWindow, ReturnsWhereSingleDatagramsGetLost) {
  auto window = started(8000);
  for (int i = 0; i < 20; i++) {
    window.lost(kNow + seconds(i), kSlot);
    pass(&window, ReceiveWindow::kLow, 10);
  }
  EXPECT_EQ(window.bytes(), 8000u);
}

TEST(ReceiveWindow, GrowsAgainOnceTheQueueIsLonger) {
  auto window = started(5000);
  window.lost(kNow, 5 * kSlot);
  pass(&window, microseconds(100), 100);
  EXPECT_EQ(window.bytes(), kMax);
}

TEST(ReceiveWindow, ShrinksInProportionWhereTheyWaitLong) {
  auto window = started(5000);
  pass(&window, ReceiveWindow::kHigh * 5 / 4, 1);
  EXPECT_EQ(window.bytes(), 4201u);  // 5000 * 0.8 * (1 - 4/5) less
  pass(&window, ReceiveWindow::kHigh * 100, 5);
  EXPECT_EQ(window.bytes(), kMin);
}

TEST(ReceiveWindow, OneThatDoesNotAdaptKeepsItsFirstSize) {
  ReceiveWindow window(kMin, kMax, false);
  window.start(5000, kSlot);
  pass(&window, microseconds(100), 50);
  window.lost(kNow, kSlot);
  pass(&window, ReceiveWindow::kHigh * 100, 5);
  EXPECT_EQ(window.bytes(), 5000u);
}

TEST(ReceiveWindow, TakesTheMeanDelayOfAWindow) {
  auto window = started(5000);
  window.delayed(ReceiveWindow::kHigh);
  pass(&window, microseconds(100), 1);
  EXPECT_GT(window.bytes(), 5000u);
  const uint64_t grown = window.bytes();
  window.delayed(microseconds(100));
  pass(&window, ReceiveWindow::kHigh * 5, 1);
  EXPECT_LT(window.bytes(), grown);
}

TEST(ReceiveWindow, StaysWhereNothingIsKnownOfDelays) {
  auto window = started(5000);
  for (int i = 0; i < 500; i++) {
    window.arrived(kNow, kSlot);
  }
  EXPECT_EQ(window.bytes(), 5000u);
}

// The time on the peer's clock when this one shows kNow + `after`.
constexpr uint32_t stamp(Duration after) {
  return 4294960000u + static_cast<uint32_t>(after / microseconds(1));
}

TEST(QueueingDelay, IsMeasuredAgainstTheFastest) {
  QueueingDelay delay;
  EXPECT_EQ(delay.sample(kNow, stamp(-milliseconds(5))), Duration{0});
  EXPECT_EQ(delay.sample(kNow + milliseconds(1), stamp(milliseconds(0))),
            Duration{0});  // 1 ms on its way: the fastest now
  EXPECT_EQ(delay.sample(kNow + milliseconds(9), stamp(milliseconds(1))),
            milliseconds(7));
  // The peer's clock passes 2^32 on the way.
  EXPECT_EQ(delay.sample(kNow + milliseconds(20), stamp(milliseconds(18))),
            milliseconds(1));
}

TEST(QueueingDelay, ForgetsTheFastestOfLongAgo) {
  QueueingDelay delay;
  delay.sample(kNow, stamp(Duration{0}));
  // From now on all take 3 ms longer, as if the clocks drift.
  Duration last{0};
  for (int s = 1; s < 25; s++) {
    const TimePoint now = kNow + seconds(s);
    last = delay.sample(now, stamp(seconds(s) - milliseconds(3)));
    if (s < 10) {
      EXPECT_EQ(last, milliseconds(3)) << s;
    }
  }
  EXPECT_EQ(last, Duration{0});
}

TEST(QueueingDelay, ForgetsItWhereNothingCameForLong) {
  QueueingDelay delay;
  delay.sample(kNow, stamp(Duration{0}));
  EXPECT_EQ(
      delay.sample(kNow + seconds(30), stamp(seconds(30) - milliseconds(9))),
      Duration{0});
}

}  // namespace
}  // namespace ubt
