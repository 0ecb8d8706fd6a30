// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/require.h"

namespace ubt {

// Limits the bytes that all senders together may have in flight to one socket.
// The capacity of the path is unknown, so the window follows delay and loss:
//
//     mean delay in a window   the window
//     below kLow               grows by 1/32, at most once in kRecovery
//     below kMiddle            returns to its home by 1/8, if it is below
//     above kHigh              shrinks by .8 (1 - kHigh / delay), as in TIMELY
//     after a loss             shrinks by 1/5, at most once in kRecovery
//     otherwise                stays
//
// TIMELY is SIGCOMM'15, section 4.3; here the delay above the minimum stands in
// place of the round-trip time. So other traffic in the same queue gets its
// share.
//
// The window begins at its home, which is the capacity that most switches have
// for a port. If more than one in kChance bytes got lost although no datagram
// waited for kMiddle, home falls to nine tenths of the window at the loss. The
// queue then holds no more than that. Other traffic would have made datagrams
// wait, and chance loses fewer.
//
// The mean counts, because single datagrams wait for a busy CPU, and an empty
// queue at the start of an op says little about the rest. All sizes are bytes.
class ReceiveWindow {
 public:
  // Losses within this time after a loss come from the same queue and count
  // once. It is also the minimum time between two steps of growth.
  static constexpr Duration kRecovery = std::chrono::milliseconds(10);
  // Thresholds of the delay; see the table.
  static constexpr Duration kLow = std::chrono::microseconds(500);
  static constexpr Duration kMiddle = std::chrono::milliseconds(5);
  static constexpr Duration kHigh = std::chrono::milliseconds(10);

  // Without `adapts` the window keeps its first size. REQUIRES
  // 0 < bytesMin <= bytesMax.
  ReceiveWindow(uint64_t bytesMin, uint64_t bytesMax, bool adapts = true)
      : bytesMin_(bytesMin),
        bytesMax_(bytesMax),
        adapts_(adapts),
        bytes_(bytesMin),
        home_(bytesMin) {
    UBT_REQUIRE(0 < bytesMin && bytesMin <= bytesMax);
  }

  // The first size of a window of at most `bytesMax`. Both sides compute it.
  static uint64_t startOf(uint64_t bytesMax, int senders, size_t slotBytes) {
    return std::min(bytesMax,
                    std::max(kStart, kStartSlots * senders * slotBytes));
  }
  // Senders of slots of `slotBytes` were told that `bytes` may be in flight.
  // The window never falls below kStartSlots of these slots.
  void start(uint64_t bytes, size_t slotBytes) {
    bytesMin_ =
        std::clamp<uint64_t>(kStartSlots * slotBytes, bytesMin_, bytesMax_);
    bytes_ = std::clamp(bytes, bytes_, bytesMax_);
    home_ = std::clamp(bytes, home_, bytesMax_);
  }

  // arrived(): a slot has come. delayed(): a datagram waited for `delay` on its
  // way.
  void arrived(TimePoint now, uint64_t slotBytes) {
    came_ += slotBytes;
    since_ += slotBytes;
    if (came_ >= bytes_) {
      settle();
      adapt(now, slotBytes);
      came_ = since_ = lost_ = 0;
      delays_ = Duration{0};
      delaysSeen_ = 0;
      worstBefore_ = worst_;
      worst_ = Duration{0};
    }
  }
  void delayed(Duration delay) {
    delays_ += delay;
    delaysSeen_++;
    worst_ = std::max(worst_, delay);
  }

  // `bytes` did not come, or come late.
  void lost(TimePoint now, uint64_t bytes) {
    lost_ += bytes;
    if (!adapts_ || now < recoveredAt_) {
      return;
    }
    recoveredAt_ = now + kRecovery;
    atLoss_ = bytes_;
    bytes_ = std::max(bytesMin_, bytes_ - bytes_ / 5);
    came_ = 0;
  }

  uint64_t bytes() const { return bytes_; }

 private:
  static constexpr uint64_t kStart = 448 << 10;
  static constexpr uint64_t kStartSlots = 4;
  static constexpr uint64_t kGrowth = 32;
  static constexpr uint64_t kReturn = 8;
  static constexpr uint64_t kBelowLoss = 10;
  static constexpr uint64_t kChance = 20;  // one in 20 may be lost by chance
  static constexpr double kShrink = 0.8;

  // Lowers home if the queue is too short for this window. That requires at
  // least one measured delay.
  void settle() {
    if (lost_ > since_ / kChance && delaysSeen_ > 0 &&
        std::max(worst_, worstBefore_) < kMiddle) {
      home_ = std::clamp(atLoss_ - atLoss_ / kBelowLoss, bytesMin_, home_);
    }
  }

  // Adapts the window; a whole one has come since the last call.
  void adapt(TimePoint now, uint64_t slotBytes) {
    if (!adapts_) {
      return;
    }
    const Duration delay =
        delaysSeen_ == 0 ? kHigh : delays_ / static_cast<int64_t>(delaysSeen_);
    if (bytes_ < home_ && delay < kMiddle) {
      bytes_ = std::min(home_, bytes_ + std::max(slotBytes, bytes_ / kReturn));
    } else if (delay < kLow) {
      // A small window comes often, but it takes as long to test a queue.
      if (now >= grownAt_ + kRecovery) {
        grownAt_ = now;
        bytes_ += std::max(slotBytes, bytes_ / kGrowth);
      }
    } else if (delay > kHigh) {
      const double over = 1 - std::chrono::duration<double>(kHigh) / delay;
      bytes_ -=
          static_cast<uint64_t>(kShrink * over * static_cast<double>(bytes_));
    }
    bytes_ = std::clamp(bytes_, bytesMin_, bytesMax_);
  }

  uint64_t bytesMin_;
  const uint64_t bytesMax_;
  const bool adapts_;
  uint64_t bytes_;
  uint64_t home_;        // it returns to this size
  uint64_t came_ = 0;    // since it was adapted, or since a loss
  uint64_t since_ = 0;   // since it was adapted
  uint64_t lost_ = 0;    // since it was adapted
  uint64_t atLoss_ = 0;  // its size before the last loss
  Duration delays_{0};   // the sum since it was adapted
  uint64_t delaysSeen_ = 0;
  Duration worst_{0};  // the maximum since it was adapted
  Duration worstBefore_{0};
  TimePoint recoveredAt_{};
  TimePoint grownAt_{};
};

}  // namespace ubt
