// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// Estimates the rate of this host's link, or of its share of the link. It
// measures while the socket is full again and again, and never empty in
// between. Not thread-safe.
class LinkRate {
 public:
  // How many bytes may wait in the socket: about two of the longest trains.
  // They have to last until their sender gets the CPU again. This does not
  // follow the rate. A flow's share of the link is its share of the bytes in
  // the queue. So a socket with fewer bytes would get less of the link, measure
  // a lower rate, and keep even fewer bytes.
  static constexpr size_t kBacklogBytes = 128 << 10;

  // The socket is full. `bytes` is the number of bytes that it has been given
  // since its start.
  void full(TimePoint now, uint64_t bytes) {
    if (since_ == kNever) {
      since_ = now;
      bytesBefore_ = bytes;
    } else if (now - since_ >= kSample && bytes > bytesLast_) {
      const double sample = static_cast<double>(bytes - bytesBefore_) /
                            std::chrono::duration<double>(now - since_).count();
      perSecond_ =
          perSecond_ == 0 ? sample : perSecond_ + (sample - perSecond_) * kGain;
      since_ = now;
      bytesBefore_ = bytes;
    }
    bytesLast_ = bytes;
  }
  // The socket is empty, so nobody knows how much the link would have taken.
  // Raises the rate a little; if that is wrong, the next samples correct it.
  void empty() {
    if (since_ != kNever) {
      perSecond_ = std::min(perSecond_ + perSecond_ * kGain, kPerSecondMost);
      since_ = kNever;
    }
  }
  // Whether empty() has an effect.
  bool measuring() const { return since_ != kNever; }

  // Bytes a second; zero: unknown, because the socket was never full for long.
  double bytesPerSecond() const { return perSecond_; }
  // How long a byte waits at most behind the backlog; zero: unknown.
  Duration backlogTime() const {
    return perSecond_ == 0
               ? Duration{0}
               : wholeNanoseconds(std::chrono::duration<double, std::nano>(
                     1e9 * kBacklogBytes / perSecond_));
  }

 private:
  static constexpr Duration kSample = std::chrono::milliseconds(2);
  static constexpr double kGain = 0.125;  // weight of a sample
  // No link is faster. Samples correct such a rate in 0.2 s.
  static constexpr double kPerSecondMost = 1e11;

  double perSecond_ = 0;  // zero: unknown
  TimePoint since_ = kNever;
  uint64_t bytesBefore_ = 0;  // at since_
  uint64_t bytesLast_ = 0;    // at the last full()
};

}  // namespace ubt
