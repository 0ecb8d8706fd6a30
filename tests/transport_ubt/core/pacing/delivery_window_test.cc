// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/pacing/delivery_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "transport_ubt/core/pacing/recent_most.h"

namespace ubt {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kStart = 400000;
constexpr double kSpare = DeliveryWindow::kSpare;

class DeliveryWindowTest : public ::testing::Test {
 protected:
  DeliveryWindowTest() {
    window_.start(kStart, 1440);
    window_.hostsDelay(milliseconds(2));
  }

  // Data arrives at this rate, in datagrams of 1440 bytes.
  void deliver(DeliveryWindow* window,
               Duration time,
               double perSecond,
               bool congested = false) {
    const Duration gap(static_cast<int64_t>(1440e9 / perSecond));
    for (const TimePoint end = now_ + time; now_ < end; now_ += gap) {
      window->arrived(now_, 1440, congested);
      window->drained(now_);
    }
  }
  // Datagrams of 1440 bytes, one by one.
  void lose(uint64_t bytes) { window_.lost(bytes, bytes / 1440); }
  uint64_t bytes() const { return window_.bytes(); }
  // The senders keep the window full on a path with a round trip of 2.4 ms and
  // 62.5 MB/s, which loses this share of datagrams. Returns their rate as a
  // part of the path's.
  double exchange(DeliveryWindow* window, Duration time, double loss) {
    std::bernoulli_distribution lost(loss);
    double sent = 0;
    for (const TimePoint end = now_ + time; now_ < end; sent += 1440) {
      const double perSecond =
          std::min(62.5e6, static_cast<double>(window->bytes()) / 2.4e-3);
      now_ += Duration(static_cast<int64_t>(1440e9 / perSecond));
      if (lost(random_)) {
        window->lost(1440, 1);
      } else {
        window->arrived(now_, 1440);
        window->drained(now_);
      }
    }
    return sent / std::chrono::duration<double>(time).count() / 62.5e6;
  }
  // The window once it knows its path.
  uint64_t settle() {
    window_.roundTrip(now_, microseconds(400));
    deliver(&window_, milliseconds(100), 62.5e6);
    return bytes();
  }

  TimePoint now_{seconds(1)};
  DeliveryWindow window_{64 << 10, 2 << 20};
  std::mt19937_64 random_{1};
};

TEST_F(DeliveryWindowTest, BeginsAsItWasTold) {
  EXPECT_EQ(bytes(), kStart);
}

// No datagram ever arrives, so nothing but losses tells of windows.
TEST_F(DeliveryWindowTest, IsAtItsLeastIfAllDataIsLost) {
  for (uint64_t sent = 0; sent < 20 * kStart; sent += 1440) {
    window_.lost(1440, 1);
  }
  EXPECT_EQ(bytes(), 64u << 10);
}

TEST_F(DeliveryWindowTest, FollowsTheRateAndTheRoundTrip) {
  window_.roundTrip(now_, microseconds(400));
  window_.roundTrip(now_, milliseconds(9));  // the least one counts
  deliver(&window_, milliseconds(100), 62.5e6);
  EXPECT_NEAR(bytes(), kSpare * 62.5e6 * 2.4e-3, 6000);
  window_.trains(100000);
  EXPECT_NEAR(bytes(), kSpare * (62.5e6 * 2.4e-3 + 100000), 6000);
}

TEST_F(DeliveryWindowTest, RemembersTheBestRateAndForgetsIt) {
  window_.roundTrip(now_, microseconds(400));
  deliver(&window_, milliseconds(100), 100e6);
  const uint64_t best = bytes();
  deliver(&window_, seconds(5), 50e6);
  EXPECT_EQ(bytes(), best);
  deliver(&window_, seconds(20), 50e6);
  EXPECT_NEAR(2 * bytes(), best, 6000);
}

TEST_F(DeliveryWindowTest, PausesDoNotCount) {
  window_.roundTrip(now_, microseconds(400));
  for (int op = 0; op < 50; op++) {
    deliver(&window_, milliseconds(5), 62.5e6);
    window_.pause();
    now_ += milliseconds(100);
  }
  EXPECT_NEAR(bytes(), kSpare * 62.5e6 * 2.4e-3, 12000);
}

TEST_F(DeliveryWindowTest, LossReducesItUnlessTheDataComes) {
  const uint64_t before = settle();
  lose(20000);
  window_.overtaken(20000);
  deliver(&window_, milliseconds(4), 62.5e6);
  EXPECT_EQ(bytes(), before);
  lose(20000);
  deliver(&window_, milliseconds(4), 62.5e6);
  EXPECT_LT(bytes(), before * 19 / 20);
}

// A tenth of a window is lost, but in one piece.
TEST_F(DeliveryWindowTest, OneLossSaysNothing) {
  const uint64_t before = settle();
  window_.lost(before / 10, 1);
  deliver(&window_, milliseconds(20), 62.5e6);
  EXPECT_EQ(bytes(), before);
}

// A rank is late, so nothing comes for a while. That is no other traffic.
TEST_F(DeliveryWindowTest, AWaitForDataTakesNoPartOfTheLink) {
  settle();
  for (int i = 0; i < 20; i++) {
    lose(50000);
    deliver(&window_, milliseconds(10), 62.5e6);
    now_ += milliseconds(100);
  }
  EXPECT_GE(bytes(), window_.need());
}

// The window fills a queue alone, so it needs no more than the link does. One
// of three windows or so loses data.
TEST_F(DeliveryWindowTest, AShortQueueTakesOnlyWhatTheLinkDoesNotNeed) {
  window_.trains(500000);
  const uint64_t before = settle();
  for (int i = 0; i < 60; i++) {
    lose(100000);
    deliver(&window_, milliseconds(110), 62.5e6);
  }
  const double need = DeliveryWindow::kNeed * 62.5e6 * 2.4e-3;
  EXPECT_GE(bytes(), need * 0.99);
  EXPECT_LT(bytes(), need + 0.3 * (before - need));
}

// Credit for that data was given before the reduction.
TEST_F(DeliveryWindowTest, IsReducedOnceForTheDataInFlight) {
  const uint64_t before = settle();
  lose(before / 4);
  deliver(&window_, milliseconds(20), 20e6);
  const uint64_t reduced = bytes();
  EXPECT_LT(reduced, before);
  lose(before / 4);
  deliver(&window_, milliseconds(20), 20e6);
  EXPECT_GE(bytes(), reduced);
  deliver(&window_, milliseconds(20), 20e6);
  lose(before / 4);
  deliver(&window_, milliseconds(20), 20e6);
  EXPECT_LT(bytes(), reduced);
}

// The buffer holds less than the largest window.
TEST_F(DeliveryWindowTest, AFullBufferLowersTheMaximum) {
  constexpr uint64_t kMost = 300000;
  DeliveryWindow window(64 << 10, kMost);
  window.hostsDelay(milliseconds(2));
  window.roundTrip(now_, microseconds(400));
  deliver(&window, milliseconds(100), 62.5e6);
  ASSERT_EQ(window.bytes(), kMost);
  window.lost(30000, 20);
  window.overflowed();
  deliver(&window, milliseconds(20), 62.5e6);
  EXPECT_NEAR(window.bytes(), 0.8 * kMost, 0.1 * kMost);
  deliver(&window, DeliveryWindow::kBufferReturn / 2, 62.5e6);
  EXPECT_LT(window.bytes(), kMost);
  deliver(&window, DeliveryWindow::kBufferReturn, 62.5e6);
  EXPECT_EQ(window.bytes(), kMost);
}

// As a loss of a fifth would. It comes back like from loss.
TEST_F(DeliveryWindowTest, MarkedDataReducesIt) {
  const uint64_t before = settle();
  deliver(&window_, milliseconds(20), 30e6, true);
  EXPECT_LT(bytes(), before * 0.85);
  EXPECT_GT(bytes(), before * 0.5);
  deliver(&window_, 4 * DeliveryWindow::kTrafficReturn, 62.5e6);
  EXPECT_EQ(bytes(), before);
}

// No other traffic takes a part of the link, so its queue is this window's own.
TEST_F(DeliveryWindowTest, MarksOfItsOwnQueueTellOnlyOfDelay) {
  const uint64_t before = settle();
  deliver(&window_, milliseconds(100), 62.5e6, true);
  EXPECT_EQ(bytes(), before);
}

// Smaller windows do not lessen these marks.
TEST_F(DeliveryWindowTest, APathThatMarksAllDataDoesNotCloseIt) {
  const uint64_t before = settle();
  deliver(&window_, seconds(2), 30e6, true);
  EXPECT_GT(bytes(), before * 0.8);
}

// Data still arrives at the best rate, so only the window can be the cause.
TEST_F(DeliveryWindowTest, ReturnsSlowlyFromAShortQueue) {
  const uint64_t before = settle();
  lose(20000);
  deliver(&window_, milliseconds(6), 62.5e6);
  EXPECT_NEAR(bytes(), before * 0.9, before * 0.02);
  deliver(&window_, DeliveryWindow::kQueueReturn / 10, 62.5e6);
  EXPECT_LT(bytes(), before * 0.95);
  deliver(&window_, DeliveryWindow::kQueueReturn, 62.5e6);
  EXPECT_EQ(bytes(), before);
}

TEST_F(DeliveryWindowTest, ReturnsFastFromOtherTraffic) {
  const uint64_t before = settle();
  lose(20000);
  deliver(&window_, milliseconds(20), 30e6);
  EXPECT_LT(bytes(), before);
  deliver(&window_, 4 * DeliveryWindow::kTrafficReturn, 62.5e6);
  EXPECT_EQ(bytes(), before);
}

// Other traffic has ended, but each window loses 4 % for another reason.
TEST_F(DeliveryWindowTest, ReturnsFromOtherTrafficAlthoughDataIsLost) {
  settle();
  for (int i = 0; i < 20; i++) {
    lose(20000);
    deliver(&window_, milliseconds(10), 20e6);
  }
  const double need = DeliveryWindow::kNeed * 62.5e6 * 2.4e-3;
  EXPECT_LT(bytes(), need * 0.9);
  for (int i = 0; i < 2000; i++) {
    lose(1440);
    deliver(&window_, microseconds(553), 62.5e6);
  }
  EXPECT_GE(bytes(), need * 0.99);
}

// Smaller windows do not lessen this loss.
TEST_F(DeliveryWindowTest, RandomLossDoesNotCloseIt) {
  for (const uint64_t bytesMin : {8 << 10, 64 << 10}) {
    for (const double loss : {.03, .05, .2}) {
      DeliveryWindow window(bytesMin, 2 << 20);
      window.start(kStart, 1440);
      window.hostsDelay(milliseconds(2));
      window.roundTrip(now_, microseconds(400));
      exchange(&window, milliseconds(100), 0);
      const uint64_t before = window.bytes();
      exchange(&window, seconds(4), loss);
      EXPECT_GT(exchange(&window, seconds(2), loss), .7) << loss;
      exchange(&window, DeliveryWindow::kQueueReturn * 4, 0);
      EXPECT_EQ(window.bytes(), before) << loss;
    }
  }
}

TEST_F(DeliveryWindowTest, StaysWithinItsLimits) {
  window_.roundTrip(now_, milliseconds(50));
  deliver(&window_, milliseconds(900), 1e9);
  EXPECT_EQ(bytes(), 2u << 20);
  DeliveryWindow slow(64 << 10, 2 << 20);
  slow.roundTrip(now_, microseconds(10));
  deliver(&slow, milliseconds(50), 1e6);
  EXPECT_EQ(slow.bytes(), 64u << 10);
}

TEST_F(DeliveryWindowTest, WithoutAdaptationItStays) {
  DeliveryWindow fixed(64 << 10, 2 << 20, Loop::kWindow);
  fixed.start(kStart, 1440);
  fixed.roundTrip(now_, milliseconds(5));
  fixed.lost(1 << 20, 20);
  deliver(&fixed, milliseconds(100), 1e9);
  EXPECT_EQ(fixed.bytes(), kStart);
}

TEST(RecentMost, ForgetsOldValues) {
  RecentMost most;
  EXPECT_FALSE(most.known());
  TimePoint now{seconds(100)};
  most.add(now, 9);
  now += seconds(9);
  most.add(now, 5);
  EXPECT_EQ(most.get(), 9);
  now += seconds(5);
  most.add(now, 4);
  EXPECT_EQ(most.get(), 9);
  now += seconds(10);
  most.add(now, 3);
  EXPECT_EQ(most.get(), 4);
  now += seconds(30);
  most.add(now, -2);
  EXPECT_EQ(most.get(), -2);
}

}  // namespace
}  // namespace ubt
