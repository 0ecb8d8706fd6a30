// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <vector>

#include "transport_ubt/core/base/reduction.h"
#include "transport_ubt/sim/narrow_float.h"

namespace ubt::sim {

// Multiplies blocks of consecutive elements, of a power of two up to 64, by a
// Walsh-Hadamard matrix. Random signs are applied before that, or after it if
// `backwards`.
inline void plainTransform(std::vector<double>* values,
                           uint64_t seed,
                           bool backwards) {
  const auto flip = [&] {
    for (size_t i = 0; i < values->size(); i++) {
      const uint64_t word = (seed ^ i) * 0x9e3779b97f4a7c15;
      (*values)[i] *= word >> 63 ? -1 : 1;
    }
  };
  if (!backwards) {
    flip();
  }
  size_t block = 64;
  for (size_t begin = 0; begin < values->size(); begin += block) {
    while (block > values->size() - begin) {
      block /= 2;
    }
    for (size_t half = 1; half < block; half *= 2) {
      for (size_t i = 0; i < block; i++) {
        if ((i & half) == 0) {
          double& a = (*values)[begin + i];
          double& b = (*values)[begin + i + half];
          const double difference = a - b;
          a += b;
          b = difference;
        }
      }
    }
    for (size_t i = 0; i < block; i++) {
      (*values)[begin + i] /= std::sqrt(block);
    }
  }
  if (backwards) {
    flip();
  }
}

inline std::vector<double> loadElements(ElementType type,
                                        const void* data,
                                        size_t count) {
  std::vector<double> values;
  const auto* at = static_cast<const std::byte*>(data);
  for (size_t i = 0; i < count; i++, at += elementSize(type)) {
    values.push_back(loadElement(type, at));
  }
  return values;
}

inline void storeElements(ElementType type,
                          const std::vector<double>& values,
                          void* data) {
  auto* at = static_cast<std::byte*>(data);
  for (const double value : values) {
    storeElement(type, value, at);
    at += elementSize(type);
  }
}

// Simple arithmetic that a reader can check.
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
  reduction.transform =
      [](ElementType type, void* data, size_t n, uint64_t seed, size_t) {
        std::vector<double> values = loadElements(type, data, n);
        for (const double value : values) {
          if (!std::isfinite(value)) {
            return false;
          }
        }
        plainTransform(&values, seed, false);
        storeElements(type, values, data);
        return true;
      };
  reduction.inverse =
      [](ElementType type, void* data, size_t n, uint64_t seed) {
        std::vector<double> values = loadElements(type, data, n);
        plainTransform(&values, seed, true);
        storeElements(type, values, data);
      };
  return reduction;
}

// For jobs without data: does nothing.
inline Reduction noReduction() {
  Reduction reduction;
  reduction.add = [](ElementType, void*, const void*, size_t) {};
  reduction.scale = [](ElementType, void*, double, size_t) {};
  reduction.transform = [](ElementType, void*, size_t, uint64_t, size_t) {
    return true;
  };
  reduction.inverse = [](ElementType, void*, size_t, uint64_t) {};
  return reduction;
}

}  // namespace ubt::sim
