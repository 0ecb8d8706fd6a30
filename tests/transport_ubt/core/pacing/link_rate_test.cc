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
  void lose() { rate.shortTrains(now_); }

  LinkRate rate;

 private:
  static constexpr Duration kStep = microseconds(500);

  TimePoint now_{seconds(100)};
  uint64_t bytes_ = 0;
};

TEST(LinkRate, ALinkThatIsNeverFullTakesAllThatComes) {
  const LinkRate rate;
  EXPECT_FALSE(rate.measuring());
  EXPECT_EQ(rate.trainBytes(), LinkRate::kTrainBytesMax);
  EXPECT_EQ(rate.backlogTime(), Duration{0});
}

TEST(LinkRate, ASlowLinkGetsShortTrains) {
  Socket socket;
  socket.stayFull(milliseconds(20), 31.25e6);
  EXPECT_NEAR(socket.rate.trainBytes(), 31250, 200);
  EXPECT_NEAR(socket.rate.backlogTime().count() * 1e-6, 4.19, 0.03);
}

TEST(LinkRate, TrainsAreShorterAfterALoss) {
  Socket socket;
  socket.stayFull(milliseconds(20), 31.25e6);
  socket.lose();
  EXPECT_NEAR(socket.rate.trainBytes(), 15625, 100);
  socket.stayFull(seconds(6), 31.25e6);
  socket.lose();
  socket.stayFull(seconds(9), 31.25e6);
  EXPECT_NEAR(socket.rate.trainBytes(), 15625, 100);
  socket.stayFull(seconds(2), 31.25e6);
  EXPECT_NEAR(socket.rate.trainBytes(), 31250, 200);
}

TEST(LinkRate, WithoutAdaptationTrainsAreLong) {
  Socket socket;
  socket.rate = LinkRate(false);
  socket.stayFull(milliseconds(20), 31.25e6);
  EXPECT_EQ(socket.rate.trainBytes(), LinkRate::kTrainBytesMax);
}

TEST(LinkRate, AFastLinkGetsTheLongestTrains) {
  Socket socket;
  socket.stayFull(milliseconds(20), 62.5e6);
  socket.stayFull(milliseconds(100), 1.25e9);
  EXPECT_EQ(socket.rate.trainBytes(), LinkRate::kTrainBytesMax);
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
  EXPECT_NEAR(socket.rate.trainBytes(), 31250, 1000);
}

// On such a link the socket is never full for long enough to measure: it is
// always empty when its sender gets the CPU again.
TEST(LinkRate, ALinkThatWasTakenForTooSlowGetsMoreAgain) {
  Socket socket;
  socket.stayFull(milliseconds(20), 1e6);
  EXPECT_EQ(socket.rate.trainBytes(), LinkRate::kTrainBytesMin);
  for (int wake = 0; wake < 60; wake++) {
    socket.stayFull(microseconds(500), 1.25e9);
    socket.rate.empty();
  }
  EXPECT_EQ(socket.rate.trainBytes(), LinkRate::kTrainBytesMax);
}

// Sockets that are empty again and again do not raise it without a limit.
TEST(LinkRate, ALinkThatWasTakenForTooFastGetsLessAgain) {
  Socket socket;
  socket.stayFull(milliseconds(20), 10e6);
  for (int wake = 0; wake < 10000; wake++) {
    socket.stayFull(microseconds(500), 1.25e9);
    socket.rate.empty();
  }
  EXPECT_EQ(socket.rate.trainBytes(), LinkRate::kTrainBytesMax);
  socket.stayFull(milliseconds(200), 10e6);
  EXPECT_NEAR(socket.rate.trainBytes(), 10000, 2000);
}

// The estimate also stays when a socket is checked again without new data.
TEST(LinkRate, ASocketThatGetsNothingIsNoSlowOne) {
  Socket socket;
  socket.stayFull(milliseconds(10), 31.25e6);
  const size_t before = socket.rate.trainBytes();
  socket.stayFull(milliseconds(10), 0);
  EXPECT_EQ(socket.rate.trainBytes(), before);
}

TEST(LinkRate, FollowsALinkThatOthersUse) {
  Socket socket;
  socket.stayFull(milliseconds(20), 62.5e6);
  socket.stayFull(milliseconds(200), 40e6);
  EXPECT_NEAR(socket.rate.trainBytes(), 40000, 400);
}

}  // namespace
}  // namespace ubt
