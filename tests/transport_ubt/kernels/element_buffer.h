// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/transport_ubt/kernels/scalar_reduction.h"
#include "transport_ubt/core/base/element_type.h"

namespace ubt {
namespace testing {

constexpr ElementType kAllTypes[] = {ElementType::kFloat32,
                                     ElementType::kFloat64,
                                     ElementType::kFloat16,
                                     ElementType::kBfloat16};

inline const NarrowFormat& formatOf(ElementType type) {
  return type == ElementType::kFloat16 ? kFloat16Format : kBfloat16Format;
}

// Bytes that start `misalignment` after a 64-byte boundary, with guards.
class Buffer {
 public:
  Buffer(size_t bytes, size_t misalignment)
      : storage_(bytes + 2 * kGuard + 128, kFill), bytes_(bytes) {
    const auto start = reinterpret_cast<uintptr_t>(storage_.data()) + kGuard;
    const size_t toBoundary = (64 - start % 64) % 64;
    offset_ = kGuard + toBoundary + misalignment % 64;
  }

  uint8_t* data() { return storage_.data() + offset_; }

  template <typename T>
  T get(size_t i) {
    T value;
    std::memcpy(&value, data() + i * sizeof(T), sizeof(T));
    return value;
  }

  template <typename T>
  void set(size_t i, T value) {
    std::memcpy(data() + i * sizeof(T), &value, sizeof(T));
  }

  bool guardsIntact() const {
    for (size_t i = 0; i < storage_.size(); i++) {
      const bool inside = i >= offset_ && i < offset_ + bytes_;
      if (!inside && storage_[i] != kFill) {
        return false;
      }
    }
    return true;
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr uint8_t kFill = 0xa5;
  std::vector<uint8_t> storage_;
  size_t bytes_;
  size_t offset_;
};

inline double getAs(ElementType type, Buffer& buffer, size_t i) {
  switch (type) {
    case ElementType::kFloat32:
      return buffer.get<float>(i);
    case ElementType::kFloat64:
      return buffer.get<double>(i);
    default:
      return formatOf(type).decode(buffer.get<uint16_t>(i));
  }
}

inline void setAs(ElementType type, Buffer& buffer, size_t i, double value) {
  switch (type) {
    case ElementType::kFloat32:
      return buffer.set(i, static_cast<float>(value));
    case ElementType::kFloat64:
      return buffer.set(i, value);
    default:
      return buffer.set(i, formatOf(type).encode(value));
  }
}

inline double rounded(ElementType type, double value) {
  Buffer one(8, 0);
  setAs(type, one, 0, value);
  return getAs(type, one, 0);
}

template <typename Real>
std::vector<Real> valuesOf(ElementType type, Buffer& buffer, size_t count) {
  std::vector<Real> values(count);
  for (size_t i = 0; i < count; i++) {
    values[i] = static_cast<Real>(getAs(type, buffer, i));
  }
  return values;
}

}  // namespace testing
}  // namespace ubt
