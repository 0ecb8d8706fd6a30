// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "transport_ubt/kernels/hadamard.h"
#include "transport_ubt/kernels/hadamard_layout.h"

namespace ubt {
namespace testing {

// The position of a block, as in hadamard.h: element k at first + k * stride.
struct Block {
  size_t first;
  size_t stride;
  uint64_t signs;

  size_t at(size_t k) const { return first + k * stride; }
  int sign(size_t k) const { return signs >> k & 1 ? -1 : 1; }
};

inline std::vector<Block> blocksOf(ElementType type,
                                   size_t count,
                                   uint64_t seed) {
  const size_t tileColumns = 1024 / elementSize(type);
  std::vector<Block> blocks;
  uint64_t tiles = 0;
  size_t left = count;
  while (left >= 64) {
    const size_t n = hadamardColumns(type, left);
    left -= 64 * n;
    for (size_t c = 0; c < n; c++) {
      if (c > 0 && c % tileColumns == 0) {
        tiles++;
      }
      blocks.push_back({left + c, n, hadamardSigns(seed, tiles)});
    }
    tiles++;
  }
  return blocks;
}

using Values = std::array<double, 64>;

template <typename T>
Values gather(const std::vector<T>& data, const Block& block) {
  Values values;
  for (size_t k = 0; k < values.size(); k++) {
    values[k] = data[block.at(k)];
  }
  return values;
}

inline int hadamardEntry(size_t i, size_t j) {
  return __builtin_parityll(i & j) ? -1 : 1;
}

// By definition: forward H D x / 8, inverse D H x / 8.
inline Values transformed(const Values& x, const Block& block, bool forward) {
  Values y;
  for (size_t i = 0; i < y.size(); i++) {
    long double sum = 0;
    for (size_t j = 0; j < x.size(); j++) {
      sum += hadamardEntry(i, j) * (forward ? block.sign(j) : 1) *
             static_cast<long double>(x[j]);
    }
    y[i] = static_cast<double>(sum / 8 * (forward ? 1 : block.sign(i)));
  }
  return y;
}

// The textbook's loops, in the arithmetic that hadamard.h promises. The result
// must have the same bits.
template <typename Real>
void scalarHadamard(std::vector<Real>& data,
                    const std::vector<Block>& blocks,
                    bool forward) {
  for (const auto& block : blocks) {
    std::array<Real, 64> v;
    for (size_t k = 0; k < v.size(); k++) {
      v[k] = data[block.at(k)];
      if (forward) {
        v[k] *= block.sign(k) * Real(0.125);
      }
    }
    for (size_t apart = 1; apart < v.size(); apart *= 2) {
      for (size_t k = 0; k < v.size(); k++) {
        if ((k & apart) == 0) {
          const Real a = v[k];
          const Real b = v[k + apart];
          v[k] = a + b;
          v[k + apart] = a - b;
        }
      }
    }
    for (size_t k = 0; k < v.size(); k++) {
      if (!forward) {
        v[k] *= block.sign(k) * Real(0.125);
      }
      data[block.at(k)] = v[k];
    }
  }
}

}  // namespace testing
}  // namespace ubt
