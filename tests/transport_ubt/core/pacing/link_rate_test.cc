// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/pacing/link_rate.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A socket that is full at every check, every half millisecond. Each time it
// accepts as much as it has sent since the last check.
class Socket {
 public:
  void stayFull(Duration time, double perSecond) {
    for (Duration passed{0}; passed < time; passed += kStep) {
      now_ += kStep;
      bytes_ += static_cast<uint64_t>(
          perSecond * std::chrono::duration<double>(kStep).count());
      rate.full(now_, bytes_);
    }
  }
  void pause(Duration time) { now_ += time; }
  // Is empty again each time that its sender gets the CPU.
  void emptyAgain(int times) {
    for (int wake = 0; wake < times; wake++) {
      stayFull(kStep, 1.25e9);
      rate.empty();
    }
  }

  LinkRate rate;

 private:
  static constexpr Duration kStep = microseconds(500);

  TimePoint now_{seconds(100)};
  uint64_t bytes_ = 0;
};

TEST(LinkRate, OfALinkThatIsNeverFullIsUnknown) {
  const LinkRate rate;
  EXPECT_FALSE(rate.measuring());
  EXPECT_EQ(rate.bytesPerSecond(), 0);
  EXPECT_EQ(rate.backlogTime(), Duration{0});
}

TEST(LinkRate, IsTheRateAtWhichAFullSocketSends) {
  Socket socket;
  socket.stayFull(milliseconds(20), 31.25e6);
  EXPECT_NEAR(socket.rate.bytesPerSecond(), 31.25e6, 2e5);
  EXPECT_NEAR(socket.rate.backlogTime().count() * 1e-6, 4.19, 0.03);
}

TEST(LinkRate, FollowsALinkThatBecomesFaster) {
  Socket socket;
  socket.stayFull(milliseconds(20), 62.5e6);
  socket.stayFull(milliseconds(100), 1.25e9);
  EXPECT_NEAR(socket.rate.bytesPerSecond(), 1.25e9, 1e7);
}

TEST(LinkRate, WhileTheSocketWasEmptyNothingIsLearned) {
  Socket socket;
  for (int op = 0; op < 20; op++) {
    socket.stayFull(milliseconds(10), 31.25e6);
    socket.rate.empty();
    EXPECT_FALSE(socket.rate.measuring());
    socket.pause(seconds(1));
  }
  socket.stayFull(milliseconds(60), 31.25e6);
  EXPECT_NEAR(socket.rate.bytesPerSecond(), 31.25e6, 1e6);
}

// On such a link the socket is never full for long enough to measure: it is
// always empty when its sender gets the CPU again.
TEST(LinkRate, ALinkThatWasTakenForTooSlowGetsMoreAgain) {
  Socket socket;
  socket.stayFull(milliseconds(20), 1e6);
  EXPECT_NEAR(socket.rate.bytesPerSecond(), 1e6, 1e5);
  socket.emptyAgain(60);
  EXPECT_GT(socket.rate.bytesPerSecond(), 1e8);
}

// Sockets that are empty again and again do not raise it without a limit.
TEST(LinkRate, ALinkThatWasTakenForTooFastGetsLessAgain) {
  Socket socket;
  socket.stayFull(milliseconds(20), 10e6);
  socket.emptyAgain(10000);
  socket.stayFull(milliseconds(200), 10e6);
  EXPECT_NEAR(socket.rate.bytesPerSecond(), 10e6, 1e6);
}

// The estimate also stays when a socket is checked again without new data.
TEST(LinkRate, ASocketThatGetsNothingIsNoSlowOne) {
  Socket socket;
  socket.stayFull(milliseconds(10), 31.25e6);
  const double before = socket.rate.bytesPerSecond();
  socket.stayFull(milliseconds(10), 0);
  EXPECT_EQ(socket.rate.bytesPerSecond(), before);
}

TEST(LinkRate, FollowsALinkThatOthersUse) {
  Socket socket;
  socket.stayFull(milliseconds(20), 62.5e6);
  socket.stayFull(milliseconds(200), 40e6);
  EXPECT_NEAR(socket.rate.bytesPerSecond(), 40e6, 4e5);
}

}  // namespace
}  // namespace ubt
