// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// Estimates the rate of this host's link, or of its share of the link. It
// measures while the socket is full again and again, and never empty in
// between. The rate limits how long a train may be: in front of a slow link,
// trains should be short enough for other peers. A link that is never full gets
// the longest trains. Not thread-safe.
class LinkRate {
 public:
  // Limits of a train: its bytes, with room left for the control datagram
  // behind it, and how long it may occupy the link. Each train costs CPU time.
  // But a train is lost whole, and the data of other peers waits behind it. So
  // trains are shorter for kShortFor after a loss.
  static constexpr size_t kTrainBytesMin = 8 << 10;
  static constexpr size_t kTrainBytesMax = 64256;
  static constexpr Duration kTrain = std::chrono::milliseconds(1);
  static constexpr Duration kShortTrain = std::chrono::microseconds(500);
  static constexpr Duration kShortFor = std::chrono::seconds(10);
  // How many bytes may wait in the socket: about two of the longest trains.
  // They have to last until their sender gets the CPU again. This does not
  // follow the rate. A flow's share of the link is its share of the bytes in
  // the queue. So a socket with fewer bytes would get less of the link, measure
  // a lower rate, and keep even fewer bytes.
  static constexpr size_t kBacklogBytes = 128 << 10;

  // Without `adapts` every link gets the maximum.
  explicit LinkRate(bool adapts = true) : adapts_(adapts) {}

  // The socket is full. `bytes` is the number of bytes that it has been given
  // since its start.
  void full(TimePoint now, uint64_t bytes) {
    short_ = short_ && now - shortSince_ < kShortFor;
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
  // Trains are short from now on, for kShortFor: data was lost on its way from
  // this host or to it.
  void shortTrains(TimePoint now) {
    short_ = true;
    shortSince_ = now;
  }
  // Whether empty() has an effect.
  bool measuring() const { return since_ != kNever; }

  size_t trainBytes() const {
    const double bytes =
        perSecond_ * std::chrono::duration<double>(train()).count();
    return !adapts_ || perSecond_ == 0 || bytes >= kTrainBytesMax
               ? kTrainBytesMax
               : std::max(kTrainBytesMin, static_cast<size_t>(bytes));
  }

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

  Duration train() const { return short_ ? kShortTrain : kTrain; }

  bool adapts_;
  double perSecond_ = 0;  // zero: unknown
  TimePoint since_ = kNever;
  uint64_t bytesBefore_ = 0;  // at since_
  uint64_t bytesLast_ = 0;    // at the last full()
  bool short_ = false;        // trains, as of the last full()
  TimePoint shortSince_{};
};

}  // namespace ubt
