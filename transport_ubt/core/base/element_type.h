// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ubt {

// The types a bounded allreduce can sum. The values travel in announcements
// (docs/wire_format.md) and must not change.
enum class ElementType : uint8_t {
  kFloat32 = 0,
  kFloat64 = 1,
  kFloat16 = 2,   // IEEE 754 binary16
  kBfloat16 = 3,  // the upper half of a binary32
};

constexpr uint8_t kElementTypes = 4;

// Bytes per element.
constexpr size_t elementSize(ElementType type) {
  return type == ElementType::kFloat64
             ? 8
             : (type == ElementType::kFloat32 ? 4 : 2);
}

constexpr const char* elementTypeName(ElementType type) {
  constexpr const char* kNames[] = {
      "float32", "float64", "float16", "bfloat16"};
  return kNames[static_cast<uint8_t>(type)];
}

}  // namespace ubt
