// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/clock.h"

namespace ubt {

// How much all senders together may have in flight to one socket. What the path
// holds is unknown: the window begins with what most switches have for a port,
// grows while datagrams hardly wait on their way, stays while they do, returns
// fast to what it began with once they do not wait too long, and shrinks when
// they wait long (by TIMELY's rule, SIGCOMM'15, section 4.3, with
// delays beyond the least seen in place of round-trip times) or get lost. So a
// flow of others that fills the same queue gets its part of it.
//
// The mean delay of a window counts: single datagrams wait for a busy CPU, and
// an empty queue at the start of an op says little of the rest. Bytes.
class ReceiveWindow {
 public:
  // After a loss the next ones so soon are of the same queue.
  static constexpr Duration kRecovery = std::chrono::milliseconds(10);
  // Delays below the first let it grow, below the second return to what it
  // began with; those beyond the third make it shrink.
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
        started_(bytesMin) {}

  // What a window of at most `bytesMax` begins with; both sides compute it.
  static uint64_t startOf(uint64_t bytesMax, int senders, size_t slotBytes) {
    return std::min(bytesMax,
                    std::max(kStart, kStartSlots * senders * slotBytes));
  }
  // Senders were told that so much may be in flight.
  void start(uint64_t bytes) {
    bytes_ = std::clamp(bytes, bytes_, bytesMax_);
    started_ = std::clamp(bytes, started_, bytesMax_);
  }

  // A datagram came; one of its peer's has waited so long on its way.
  void arrived(uint64_t slotBytes) {
    came_ += slotBytes;
    if (came_ >= bytes_) {
      adapt(slotBytes);
      came_ = 0;
      delays_ = Duration{0};
      delaysSeen_ = 0;
    }
  }
  void delayed(Duration delay) {
    delays_ += delay;
    delaysSeen_++;
  }

  void lost(TimePoint now) {
    if (!adapts_ || now < recoveredAt_) {
      return;
    }
    recoveredAt_ = now + kRecovery;
    bytes_ = std::max(bytesMin_, bytes_ - bytes_ / 5);
    came_ = 0;
  }

  uint64_t bytes() const { return bytes_; }

 private:
  static constexpr uint64_t kStart = 448 << 10;
  static constexpr uint64_t kStartSlots = 4;
  static constexpr uint64_t kGrowth = 32;
  static constexpr uint64_t kReturn = 8;
  static constexpr double kShrink = 0.8;

  // A window has come.
  void adapt(uint64_t slotBytes) {
    if (!adapts_) {
      return;
    }
    const Duration delay =
        delaysSeen_ == 0 ? kHigh : delays_ / static_cast<int64_t>(delaysSeen_);
    if (bytes_ < started_ && delay < kMiddle) {
      bytes_ =
          std::min(started_, bytes_ + std::max(slotBytes, bytes_ / kReturn));
    } else if (delay < kLow) {
      bytes_ += std::max(slotBytes, bytes_ / kGrowth);
    } else if (delay > kHigh) {
      const double over = 1 - std::chrono::duration<double>(kHigh) / delay;
      bytes_ -=
          static_cast<uint64_t>(kShrink * over * static_cast<double>(bytes_));
    }
    bytes_ = std::clamp(bytes_, bytesMin_, bytesMax_);
  }

  const uint64_t bytesMin_;
  const uint64_t bytesMax_;
  const bool adapts_;
  uint64_t bytes_;
  uint64_t started_;    // with so many
  uint64_t came_ = 0;   // since it was adapted
  Duration delays_{0};  // since then, of all that said
  uint64_t delaysSeen_ = 0;
  TimePoint recoveredAt_{};
};

}  // namespace ubt
