// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/fault_injector.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace ubt {
namespace {

constexpr TimePoint kNow{std::chrono::seconds(1)};
constexpr int kDatagrams = 10000;

// Sends datagrams that contain their number. Returns those that leave by
// `until`, in order.
std::vector<int> through(const FaultOptions& options,
                         TimePoint until,
                         int rank = 0) {
  FaultInjector injector(options);
  int lost = 0;
  for (int i = 0; i < kDatagrams; i++) {
    lost += injector.send(kNow,
                          rank,
                          SocketAddress(),
                          {std::byte(i & 0xff), std::byte(i >> 8)})
                ? 0
                : 1;
  }
  std::vector<int> left;
  FaultInjector::Held held;
  while (injector.due(until, &held)) {
    left.push_back(std::to_integer<int>(held.datagram[0]) +
                   (std::to_integer<int>(held.datagram[1]) << 8));
  }
  if (options.duplicate == 0 && injector.nextDeadline() == kNever) {
    EXPECT_EQ(lost, kDatagrams - static_cast<int>(left.size()));
  }
  return left;
}

TEST(FaultOptions, ReadsEveryItem) {
  const auto options = FaultOptions::parse(
      "loss:0.01,dup:0.25,reorder:1,tail:0.1,delay:1.5ms,"
      "seed:9007199254740992");
  EXPECT_EQ(options.loss, 0.01);
  EXPECT_EQ(options.duplicate, 0.25);
  EXPECT_EQ(options.reorder, 1);
  EXPECT_EQ(options.tail, 0.1);
  EXPECT_EQ(options.delay, std::chrono::microseconds(1500));
  EXPECT_EQ(options.seed, uint64_t{1} << 53);
  EXPECT_TRUE(options.any());
  EXPECT_TRUE(FaultOptions::parse("tail:0.1").any());
  EXPECT_FALSE(FaultOptions::parse("").any());
  EXPECT_FALSE(FaultOptions::parse("seed:3").any());
}

TEST(FaultOptions, RefusesUnknownFaults) {
  for (const char* const text : {"loss",
                                 "loss:",
                                 "loss:-0.1",
                                 "loss:1.1",
                                 "loss:nan",
                                 "loss:0.1x",
                                 "tail:2",
                                 "delay:5",
                                 "delay:5s",
                                 "delay:-1ms",
                                 "delay:inf ms",
                                 "seed:-1",
                                 "seed:1e300",
                                 "jitter:1",
                                 ",",
                                 " loss:0.1"}) {
    EXPECT_THROW(FaultOptions::parse(text), std::invalid_argument) << text;
  }
}

TEST(FaultInjector, LeavesAllAloneWithoutFaults) {
  const auto left = through(FaultOptions(), kNow);
  ASSERT_EQ(left.size(), static_cast<size_t>(kDatagrams));
  for (int i = 0; i < kDatagrams; i++) {
    ASSERT_EQ(left[i], i);
  }
}

TEST(FaultInjector, LosesAndDoublesAsOftenAsAsked) {
  FaultOptions options;
  options.loss = 0.1;
  // 5 standard deviations of 10,000 draws.
  EXPECT_NEAR(through(options, kNow).size(), 9000, 150);
  options.loss = 0;
  options.duplicate = 0.1;
  EXPECT_NEAR(through(options, kNow).size(), 11000, 150);
  options.loss = 1;
  EXPECT_EQ(through(options, kNow).size(), 0u);
}

TEST(FaultInjector, RepeatsItselfFromItsSeed) {
  FaultOptions options;
  options.loss = options.duplicate = options.reorder = 0.2;
  const TimePoint late = kNow + std::chrono::seconds(1);
  const auto once = through(options, late);
  EXPECT_EQ(through(options, late), once);
  options.seed++;
  EXPECT_NE(through(options, late), once);
}

TEST(FaultInjector, HarmsEachRanksDatagramsApart) {
  FaultOptions options;
  options.loss = 0.2;
  for (int rank = 1; rank < 8; rank++) {
    const auto once = through(options, kNow, rank);
    EXPECT_EQ(through(options, kNow, rank), once) << rank;
    EXPECT_NE(through(options, kNow, 0), once) << rank;
    options.seed++;
    EXPECT_NE(through(options, kNow, rank - 1), once) << rank;
    options.seed--;
  }
}

TEST(FaultInjector, DelaysAll) {
  FaultOptions options;
  options.delay = std::chrono::milliseconds(3);
  EXPECT_TRUE(through(options, kNow + options.delay - Duration(1)).empty());
  EXPECT_EQ(through(options, kNow + options.delay).size(),
            static_cast<size_t>(kDatagrams));
  FaultInjector injector(options);
  EXPECT_EQ(injector.nextDeadline(), kNever);
  EXPECT_TRUE(injector.send(kNow, 0, SocketAddress(), {}));
  EXPECT_EQ(injector.nextDeadline(), kNow + options.delay);
}

TEST(FaultInjector, HoldsSomeBackForAWhile) {
  FaultOptions options;
  options.reorder = 0.1;
  EXPECT_NEAR(through(options, kNow).size(), 9000, 150);
  const auto left = through(options, kNow + FaultInjector::kReorderBy);
  EXPECT_EQ(left.size(), static_cast<size_t>(kDatagrams));
  EXPECT_FALSE(std::is_sorted(left.begin(), left.end()));
}

}  // namespace
}  // namespace ubt
