// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ubt {

// Bounds-checked, little-endian access to bytes that may be hostile. After a
// read or write past the end, the cursor has failed for good and reads yield
// zeros. So a parser may read on and check once.
class ReadCursor {
 public:
  ReadCursor(const std::byte* data, size_t bytes) : at_(data), left_(bytes) {}

  template <typename T>
  T get() {
    static_assert(std::is_unsigned<T>::value, "the wire is unsigned");
    if (left_ < sizeof(T)) {
      failed_ = true;
      left_ = 0;
      return 0;
    }
    T value = 0;
    for (size_t i = 0; i < sizeof(T); i++) {
      value |= static_cast<T>(static_cast<T>(at_[i]) << (8 * i));
    }
    at_ += sizeof(T);
    left_ -= sizeof(T);
    return value;
  }

  // Reads three bytes.
  uint32_t get24() {
    const uint32_t low = get<uint16_t>();
    return low | static_cast<uint32_t>(get<uint8_t>()) << 16;
  }

  bool failed() const { return failed_; }
  size_t left() const { return left_; }

 private:
  const std::byte* at_;
  size_t left_;
  bool failed_ = false;
};

class WriteCursor {
 public:
  WriteCursor(std::byte* data, size_t bytes) : begin_(data), left_(bytes) {}

  template <typename T>
  void put(T value) {
    static_assert(std::is_unsigned<T>::value, "the wire is unsigned");
    if (left_ < sizeof(T)) {
      failed_ = true;
      left_ = 0;
      return;
    }
    for (size_t i = 0; i < sizeof(T); i++) {
      begin_[used_ + i] = static_cast<std::byte>(value >> (8 * i));
    }
    used_ += sizeof(T);
    left_ -= sizeof(T);
  }

  // Writes the lowest three bytes.
  void put24(uint32_t value) {
    put(static_cast<uint16_t>(value));
    put(static_cast<uint8_t>(value >> 16));
  }

  bool failed() const { return failed_; }
  size_t used() const { return used_; }
  size_t left() const { return left_; }

 private:
  std::byte* begin_;
  size_t used_ = 0;
  size_t left_;
  bool failed_ = false;
};

}  // namespace ubt
