// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace ubt {

// Which packet numbers of one direction were seen, in a sliding window. A
// number below the window counts as seen, because it is too old to tell. Not
// thread-safe.
class ReplayWindow {
 public:
  static constexpr uint64_t kWindow = 2048;

  // Returns true the first time a number is offered, and false ever after.
  bool accept(uint64_t number) {
    if (number >= next_) {
      const uint64_t ahead = number - next_ + 1;
      if (ahead >= kWindow) {
        seen_.fill(0);
      } else {
        for (uint64_t n = next_; n != number; n++) {
          seen_[word(n)] &= ~mask(n);
        }
      }
      seen_[word(number)] |= mask(number);
      next_ = number + 1;
      return true;
    }
    if (next_ - number > kWindow || (seen_[word(number)] & mask(number))) {
      return false;
    }
    seen_[word(number)] |= mask(number);
    return true;
  }

  // One past the highest number accepted.
  uint64_t next() const { return next_; }

 private:
  static size_t word(uint64_t n) { return (n % kWindow) / 64; }
  static uint64_t mask(uint64_t n) { return uint64_t{1} << (n % 64); }

  uint64_t next_ = 0;
  std::array<uint64_t, kWindow / 64> seen_{};
};

}  // namespace ubt
