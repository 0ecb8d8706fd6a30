// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "transport_ubt/core/reduction.h"

namespace ubt::sim {

template <typename T>
void forEach(void* data, const void* other, size_t count, T (*f)(T, T)) {
  for (size_t i = 0; i < count; i++) {
    T a;
    T b{};
    std::memcpy(&a, static_cast<char*>(data) + i * sizeof(T), sizeof(T));
    if (other != nullptr) {
      std::memcpy(
          &b, static_cast<const char*>(other) + i * sizeof(T), sizeof(T));
    }
    a = f(a, b);
    std::memcpy(static_cast<char*>(data) + i * sizeof(T), &a, sizeof(T));
  }
}

// Arithmetic one can check by eye, of the two types the simulator uses.
inline Reduction plainReduction() {
  Reduction reduction;
  reduction.add = [](ElementType type, void* to, const void* from, size_t n) {
    if (type == ElementType::kFloat64) {
      forEach<double>(to, from, n, [](double a, double b) { return a + b; });
    } else {
      forEach<float>(to, from, n, [](float a, float b) { return a + b; });
    }
  };
  reduction.scale = [](ElementType type, void* data, double by, size_t n) {
    for (size_t i = 0; i < n; i++) {
      if (type == ElementType::kFloat64) {
        static_cast<double*>(data)[i] *= by;
      } else {
        auto& value = static_cast<float*>(data)[i];
        value = static_cast<float>(value * by);
      }
    }
  };
  return reduction;
}

}  // namespace ubt::sim
