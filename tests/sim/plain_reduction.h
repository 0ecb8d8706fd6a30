// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/sim/narrow_float.h"
#include "transport_ubt/core/reduction.h"

namespace ubt::sim {

// Arithmetic one can check by eye.
inline Reduction plainReduction() {
  Reduction reduction;
  reduction.add = [](ElementType type, void* to, const void* from, size_t n) {
    const size_t step = elementSize(type);
    auto* at = static_cast<std::byte*>(to);
    const auto* other = static_cast<const std::byte*>(from);
    for (size_t i = 0; i < n; i++, at += step, other += step) {
      storeElement(type, loadElement(type, at) + loadElement(type, other), at);
    }
  };
  reduction.scale = [](ElementType type, void* data, double by, size_t n) {
    auto* at = static_cast<std::byte*>(data);
    for (size_t i = 0; i < n; i++, at += elementSize(type)) {
      storeElement(type, loadElement(type, at) * by, at);
    }
  };
  return reduction;
}

}  // namespace ubt::sim
