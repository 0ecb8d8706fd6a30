// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/types.h>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace gloo {
namespace testing {

enum class Operation { kSum, kProduct, kMin, kMax };

inline const char* operationName(Operation operation) {
  constexpr const char* kNames[] = {"sum", "product", "min", "max"};
  return kNames[static_cast<int>(operation)];
}

template <typename T>
constexpr bool isFloat() {
  return std::is_floating_point<T>::value || std::is_same<T, float16>::value;
}

// x op y, in plain C++.
template <typename T>
T combine(Operation operation, T x, T y) {
  switch (operation) {
    case Operation::kSum:
      return x + y;
    case Operation::kProduct:
      return x * y;
    case Operation::kMin:
      return y < x ? y : x;
    case Operation::kMax:
      return x < y ? y : x;
  }
  return x;
}

// One element of one input of one rank: scattered, different everywhere, and
// such that no signed integer overflows in any operation over 64 ranks.
// Floating-point values need rounding, so that the order of operations shows.
template <typename T>
T element(Operation operation, int rank, int input, size_t index) {
  uint64_t bits = (index * 64 + rank) * 8 + input + 1;
  bits *= 0x9e3779b97f4a7c15;
  bits ^= bits >> 29;
  bits *= 0xbf58476d1ce4e5b9;
  bits ^= bits >> 32;
  if (isFloat<T>()) {
    const double unit = (bits % 1048576) / 1048576.0;
    const double around1 = 0.95 + 0.1 * unit;
    const double around0 = 2 * unit - 0.9;
    return T(operation == Operation::kProduct ? around1 : around0);
  }
  if (operation == Operation::kProduct) {
    return T(bits % 2 && std::is_signed<T>::value ? -1 : 1);
  }
  if (operation == Operation::kSum && sizeof(T) == 1) {
    return T(bits % 2);
  }
  return T(bits % 100);
}

template <typename T>
std::vector<T> inputOf(Operation operation, int rank, int input, size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; i++) {
    values[i] = element<T>(operation, rank, input, i);
  }
  return values;
}

// What an allreduce has to give: the inputs of a rank combined in their order,
// then the ranks in theirs.
template <typename T>
std::vector<T> reference(Operation operation,
                         int ranks,
                         int inputs,
                         size_t count) {
  std::vector<T> result;
  for (int rank = 0; rank < ranks; rank++) {
    auto own = inputOf<T>(operation, rank, 0, count);
    for (int input = 1; input < inputs; input++) {
      const auto other = inputOf<T>(operation, rank, input, count);
      for (size_t i = 0; i < count; i++) {
        own[i] = combine(operation, own[i], other[i]);
      }
    }
    if (rank == 0) {
      result = std::move(own);
      continue;
    }
    for (size_t i = 0; i < count; i++) {
      result[i] = combine(operation, result[i], own[i]);
    }
  }
  return result;
}

}  // namespace testing
}  // namespace gloo
