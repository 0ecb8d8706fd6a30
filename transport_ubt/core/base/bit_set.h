// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/require.h"

namespace ubt {

// A fixed number of bits, with a count of those that are set. REQUIRES
// index < size().
class BitSet {
 public:
  explicit BitSet(size_t size = 0) : size_(size), words_((size + 63) / 64) {}

  // Bytes that `size` bits allocate, without the object itself.
  static size_t bytesFor(size_t size) { return (size + 63) / 64 * 8; }

  size_t size() const { return size_; }
  size_t count() const { return count_; }
  bool all() const { return count_ == size_; }
  bool none() const { return count_ == 0; }

  bool test(size_t index) const {
    UBT_REQUIRE(index < size_);
    return (words_[index / 64] >> (index % 64)) & 1;
  }

  // Returns true if the bit was clear before.
  bool set(size_t index) {
    UBT_REQUIRE(index < size_);
    const uint64_t mask = uint64_t{1} << (index % 64);
    if (words_[index / 64] & mask) {
      return false;
    }
    words_[index / 64] |= mask;
    count_++;
    return true;
  }

  // Returns true if the bit was set before.
  bool clear(size_t index) {
    UBT_REQUIRE(index < size_);
    const uint64_t mask = uint64_t{1} << (index % 64);
    if (!(words_[index / 64] & mask)) {
      return false;
    }
    words_[index / 64] &= ~mask;
    count_--;
    return true;
  }

  // The first clear bit at or after `from`; size() if there is none.
  size_t firstClear(size_t from) const {
    while (from < size_) {
      const uint64_t clear = ~words_[from / 64] >> (from % 64);
      if (clear != 0) {
        const size_t found = from + __builtin_ctzll(clear);
        return found < size_ ? found : size_;
      }
      from = (from / 64 + 1) * 64;
    }
    return size_;
  }

  // The first set bit at or after `from`; size() if there is none.
  size_t firstSet(size_t from) const {
    while (from < size_) {
      const uint64_t rest = words_[from / 64] >> (from % 64);
      if (rest != 0) {
        return from + __builtin_ctzll(rest);
      }
      from = (from / 64 + 1) * 64;
    }
    return size_;
  }

 private:
  size_t size_;
  size_t count_ = 0;
  std::vector<uint64_t> words_;
};

}  // namespace ubt
