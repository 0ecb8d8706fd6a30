// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/pacing/delivery_rate.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr double kLink = 100e6;  // bytes a second
constexpr Duration kSample = milliseconds(8);

class DeliveryRateTest : public ::testing::Test {
 protected:
  // Data arrives at the rate of the link. The host looks for it now and then.
  void lookEvery(Duration pause, Duration time) {
    for (const TimePoint end = now_ + time; now_ < end;) {
      now_ += pause;
      rate_.arrived(bytesIn(pause));
      rate_.drained(now_, kSample);
    }
  }
  static uint64_t bytesIn(Duration time) {
    return static_cast<uint64_t>(kLink *
                                 std::chrono::duration<double>(time).count());
  }

  TimePoint now_{std::chrono::seconds(1)};
  DeliveryRate rate_;
};

TEST_F(DeliveryRateTest, IsUnknownAtFirst) {
  EXPECT_FALSE(rate_.known());
  rate_.arrived(1000);
  rate_.drained(now_, kSample);
  EXPECT_FALSE(rate_.known());
}

TEST_F(DeliveryRateTest, IsTheLinksHoweverRarelyTheHostLooks) {
  for (const Duration pause : {Duration(microseconds(10)),
                               Duration(microseconds(700)),
                               Duration(milliseconds(5)),
                               Duration(milliseconds(30))}) {
    DeliveryRate rate;
    std::swap(rate, rate_);
    lookEvery(pause, milliseconds(100));
    ASSERT_TRUE(rate_.known());
    EXPECT_NEAR(rate_.bytesPerSecond(), kLink, kLink * 1e-3);
  }
}

// A late host finds much data at once. That data came before its look.
TEST_F(DeliveryRateTest, DoesNotExceedTheLinkAfterAPause) {
  for (int op = 0; op < 20; op++) {
    now_ += milliseconds(50);
    rate_.arrived(bytesIn(milliseconds(4)));  // while the host was elsewhere
    rate_.drained(now_, kSample);
    lookEvery(microseconds(500), milliseconds(3));
    rate_.arrived(bytesIn(microseconds(200)));  // the last data of the op
    rate_.pause();
  }
  ASSERT_TRUE(rate_.known());
  EXPECT_NEAR(rate_.bytesPerSecond(), kLink, kLink * 1e-3);
}

TEST_F(DeliveryRateTest, ASocketThatIsNeverDrainedIsNotSampled) {
  lookEvery(milliseconds(1), milliseconds(20));
  const double before = rate_.bytesPerSecond();
  rate_.arrived(bytesIn(milliseconds(500)));
  now_ += milliseconds(500);
  EXPECT_EQ(rate_.bytesPerSecond(), before);
  rate_.drained(now_, kSample);
  EXPECT_NEAR(rate_.bytesPerSecond(), kLink, kLink * 1e-3);
}

TEST_F(DeliveryRateTest, WithoutDataTimeIsNoSample) {
  lookEvery(milliseconds(1), milliseconds(20));
  const double before = rate_.bytesPerSecond();
  for (int look = 0; look < 60000; look++) {
    rate_.drained(now_ += milliseconds(1), kSample);
  }
  EXPECT_EQ(rate_.bytesPerSecond(), before);
}

}  // namespace
}  // namespace ubt
