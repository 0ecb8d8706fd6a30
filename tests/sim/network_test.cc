// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/network.h"

#include <gtest/gtest.h>

namespace ubt::sim {
namespace {

using std::chrono::milliseconds;

// Links of 100 MB/s, with one burst of one source in every period.
SimOptions withBursts(int ranks,
                      Duration every,
                      Duration lasting,
                      double share) {
  SimOptions options;
  options.ranks = ranks;
  options.bytesPerSecond = 1e8;
  options.burstEvery = every;
  options.burstLeast = options.burstMost = lasting;
  options.burstShare = share;
  return options;
}

Network::Train trainOf(size_t datagrams) {
  PacketHeader header;
  header.type = PacketType::kData;
  Network::Datagram datagram(1000);
  header.encode(datagram.data());
  return std::make_shared<const Network::Datagrams>(datagrams, datagram);
}

// A datagram that waits for one host's uplink does not delay another host's
// datagram at the receiver's link.
TEST(Network, TheFirstAtTheSwitchGoesFirst) {
  SimOptions options;
  options.ranks = 3;
  options.bytesPerSecond = 1e8;
  EventQueue events;
  const TimePoint start = events.now();
  Network network(options, &events, [](int, const Network::Arrived&, bool) {});
  TimePoint large{};
  TimePoint small{};
  network.carry(0, 2, 1000000, [&] { large = events.now(); });
  network.carry(1, 2, 1000, [&] { small = events.now(); });
  while (events.step()) {
  }
  EXPECT_LT(small - start, milliseconds(1));
  EXPECT_GT(large - start, milliseconds(20));  // 10 ms on each of two links
}

// Three trains meet at a port whose queue holds one and a half.
TEST(Network, AFullQueueDropsAWholeTrain) {
  constexpr size_t kTrain = 10;
  SimOptions options;
  options.ranks = 4;
  options.queueBytes = 15000;
  EventQueue events;
  std::vector<TimePoint> arrivals;
  Network network(options, &events, [&](int, const Network::Arrived&, bool) {
    arrivals.push_back(events.now());
  });
  for (const int from : {0, 1, 2}) {
    network.send(from, 3, trainOf(kTrain));
  }
  while (events.step()) {
  }
  ASSERT_EQ(arrivals.size(), 2 * kTrain);
  EXPECT_EQ(network.lost(PacketType::kData), kTrain);
  EXPECT_EQ(arrivals[0], arrivals[kTrain - 1]) << "one train";
  EXPECT_LT(arrivals[kTrain - 1], arrivals[kTrain]);
}

// What waits during a stall takes room in the queue, but the stall does not.
TEST(Network, AStallDropsNothingThatFitsTheQueue) {
  SimOptions options;
  options.ranks = 2;
  options.bytesPerSecond = 1e8;
  options.stallGap = milliseconds(400);
  options.stallLeast = milliseconds(50);
  options.stallMost = milliseconds(150);
  options.queueBytes = options.socketBytes = 10000;
  EventQueue events;
  Network network(options, &events, [](int, const Network::Arrived&, bool) {});
  for (int i = 0; i < 2000; i++) {
    events.at(events.now() + i * milliseconds(60),
              [&] { network.send(0, 1, trainOf(1)); });
  }
  while (events.step()) {
  }
  EXPECT_EQ(network.lost(PacketType::kData), 0u);
}

// A burst's host passes at most a socket's buffer to its link.
TEST(Network, ABurstLeavesRoomForOthersOnItsOwnLink) {
  const SimOptions options =
      withBursts(2, milliseconds(100), milliseconds(100), 2);
  EventQueue events;
  const TimePoint start = events.now();
  Network network(options, &events, [](int, const Network::Arrived&, bool) {});
  TimePoint last{};
  events.at(start + milliseconds(90), [&] {
    for (const int from : {0, 1}) {
      network.carry(from, 1 - from, 1000, [&] { last = events.now(); });
    }
  });
  while (events.step()) {
  }
  const std::chrono::duration<double> waited = last - start - milliseconds(90);
  EXPECT_GT(waited.count(), 0.8 * 212992 / options.bytesPerSecond);
  EXPECT_LT(waited.count(), 1.2 * 212992 / options.bytesPerSecond);
}

}  // namespace
}  // namespace ubt::sim
