// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/require.h"

namespace ubt {

// How much all senders together may have in flight to one socket. What the path
// holds is unknown: the window begins with what most switches have for a port,
// grows while datagrams hardly wait on their way, stays while they do, and
// shrinks when they wait long (by TIMELY's rule, SIGCOMM'15, section 4.3, with
// delays beyond the least seen in place of round-trip times) or get lost. So a
// flow of others that fills the same queue gets its part of it. Once they wait
// less it returns fast to its home: what it began with or, where many datagrams
// got lost though none had to wait long, a little less than it was then. For
// that was neither others' traffic nor chance, but a queue which holds no more.
//
// The mean delay of a window counts: single datagrams wait for a busy CPU, and
// an empty queue at the start of an op says little of the rest. Bytes.
class ReceiveWindow {
 public:
  // After a loss the next ones so soon are of the same queue; and how often it
  // may grow beyond its home.
  static constexpr Duration kRecovery = std::chrono::milliseconds(10);
  // Delays below the first let it grow, below the second return home; those
  // beyond the third make it shrink.
  static constexpr Duration kLow = std::chrono::microseconds(500);
  static constexpr Duration kMiddle = std::chrono::milliseconds(5);
  static constexpr Duration kHigh = std::chrono::milliseconds(10);

  // `adapts`: else it stays what it begins with. REQUIRES
  // 0 < bytesMin <= bytesMax.
  ReceiveWindow(uint64_t bytesMin, uint64_t bytesMax, bool adapts = true)
      : bytesMin_(bytesMin),
        bytesMax_(bytesMax),
        adapts_(adapts),
        bytes_(bytesMin),
        home_(bytesMin) {
    UBT_REQUIRE(0 < bytesMin && bytesMin <= bytesMax);
  }

  // What a window of at most `bytesMax` begins with; both sides compute it.
  static uint64_t startOf(uint64_t bytesMax, int senders, size_t slotBytes) {
    return std::min(bytesMax,
                    std::max(kStart, kStartSlots * senders * slotBytes));
  }
  // Senders of slots of that size were told that so much may be in flight. Some
  // slots always may.
  void start(uint64_t bytes, size_t slotBytes) {
    bytesMin_ =
        std::clamp<uint64_t>(kStartSlots * slotBytes, bytesMin_, bytesMax_);
    bytes_ = std::clamp(bytes, bytes_, bytesMax_);
    home_ = std::clamp(bytes, home_, bytesMax_);
  }

  // A datagram came; one of its peer's has waited so long on its way.
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

  // So much did not come, or comes late.
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
  static constexpr uint64_t kChance = 20;  // one in so many gets lost by it
  static constexpr double kShrink = 0.8;

  // What was lost since windows came: by a queue too short for them? That
  // nothing waited long has to have been said.
  void settle() {
    if (lost_ > since_ / kChance && delaysSeen_ > 0 &&
        std::max(worst_, worstBefore_) < kMiddle) {
      home_ = std::clamp(atLoss_ - atLoss_ / kBelowLoss, bytesMin_, home_);
    }
  }

  // A window has come.
  void adapt(TimePoint now, uint64_t slotBytes) {
    if (!adapts_) {
      return;
    }
    const Duration delay =
        delaysSeen_ == 0 ? kHigh : delays_ / static_cast<int64_t>(delaysSeen_);
    if (bytes_ < home_ && delay < kMiddle) {
      bytes_ = std::min(home_, bytes_ + std::max(slotBytes, bytes_ / kReturn));
    } else if (delay < kLow) {
      // A small window comes often, but a queue takes as long to be tried.
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
  uint64_t home_;        // what it returns to
  uint64_t came_ = 0;    // since it was adapted or datagrams got lost
  uint64_t since_ = 0;   // since it was adapted
  uint64_t lost_ = 0;    // likewise
  uint64_t atLoss_ = 0;  // what it was before the last loss
  Duration delays_{0};   // since then, of all that said
  uint64_t delaysSeen_ = 0;
  Duration worst_{0};  // likewise
  Duration worstBefore_{0};
  TimePoint recoveredAt_{};
  TimePoint grownAt_{};
};

}  // namespace ubt
