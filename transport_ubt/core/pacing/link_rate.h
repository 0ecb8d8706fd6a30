// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// How fast this host's link takes what it is given, as far as that shows: where
// its socket is full again and again, and never empty in between. From it
// follows how much may wait there. That has left its sender's hands, and yet
// counts as in flight to its receiver, whose link may have nothing to do: a
// slow link should hold little, and trains no longer than others can wait for.
// A link that is never full takes all that comes. Not thread-safe.
class LinkRate {
 public:
  // What leaves in one go: at most, with room for the control that rides
  // behind, and for how long it may occupy the link. (Half of that fills links
  // better by 1 %, where it costs no CPU.)
  static constexpr size_t kTrainBytesMin = 8 << 10;
  static constexpr size_t kTrainBytesMax = 64256;
  static constexpr Duration kTrain = std::chrono::microseconds(500);
  // Likewise what waits in the socket, which has to last until its sender gets
  // the CPU again.
  static constexpr size_t kBacklogBytesMin = 32 << 10;
  static constexpr size_t kBacklogBytesMax = 128 << 10;
  static constexpr Duration kBacklog = std::chrono::milliseconds(1);

  // Without `adapts` every link gets the most.
  explicit LinkRate(bool adapts = true) : adapts_(adapts) {}

  // The socket, which got so many bytes in all so far, is full.
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
  // It is empty: nobody knows what the link would have taken. More, maybe, had
  // there been more; if that was not so, the next samples correct it.
  void empty() {
    if (since_ != kNever) {
      perSecond_ += perSecond_ * kGain;
      since_ = kNever;
    }
  }
  // Whether it matters if it is.
  bool measuring() const { return since_ != kNever; }

  // Whether it is so slow that it, rather than this host, is what ops wait for.
  bool limits() const {
    return within(kTrain, kTrainBytesMin, kTrainBytesMax) < kTrainBytesMax;
  }

  size_t trainBytes() const {
    return adapts_ ? within(kTrain, kTrainBytesMin, kTrainBytesMax)
                   : kTrainBytesMax;
  }
  size_t backlogBytes() const {
    return adapts_ ? within(kBacklog, kBacklogBytesMin, kBacklogBytesMax)
                   : kBacklogBytesMax;
  }

 private:
  static constexpr Duration kSample = std::chrono::milliseconds(2);
  static constexpr double kGain = 0.125;  // of a sample

  size_t within(Duration time, size_t least, size_t most) const {
    const double bytes =
        perSecond_ * std::chrono::duration<double>(time).count();
    return perSecond_ == 0 || bytes >= static_cast<double>(most)
               ? most
               : std::max(least, static_cast<size_t>(bytes));
  }

  bool adapts_;
  double perSecond_ = 0;  // zero: not known
  TimePoint since_ = kNever;
  uint64_t bytesBefore_ = 0;  // then
  uint64_t bytesLast_ = 0;    // when it was full last
};

}  // namespace ubt
