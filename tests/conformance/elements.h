// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/types.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "algorithms/rank_groups.h"

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

// One element of one input of one rank. Elements are scattered and differ from
// each other. No signed integer overflows in any operation over 64 ranks.
// Floating-point values need rounding, so that the order of operations is
// visible.
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

// x[i] = x[i] op y[i].
template <typename T>
void combineInto(Operation operation,
                 std::vector<T>* x,
                 const std::vector<T>& y) {
  for (size_t i = 0; i < x->size(); i++) {
    (*x)[i] = combine(operation, (*x)[i], y[i]);
  }
}

// The inputs of a rank, combined in order.
template <typename T>
std::vector<T> contributionOf(Operation operation,
                              int rank,
                              int inputs,
                              size_t count) {
  auto result = inputOf<T>(operation, rank, 0, count);
  for (int input = 1; input < inputs; input++) {
    combineInto(operation, &result, inputOf<T>(operation, rank, input, count));
  }
  return result;
}

// The expected result of a transpose allreduce: the ranks combined in order.
template <typename T>
std::vector<T> reference(Operation operation,
                         int ranks,
                         int inputs,
                         size_t count) {
  auto result = contributionOf<T>(operation, 0, inputs, count);
  for (int rank = 1; rank < ranks; rank++) {
    combineInto(
        operation, &result, contributionOf<T>(operation, rank, inputs, count));
  }
  return result;
}

// The expected result of a hierarchical one: the members of each group combined
// in order, and then the groups.
template <typename T>
std::vector<T> groupsReference(Operation operation,
                               const RankGroups& groups,
                               int inputs,
                               size_t count) {
  std::vector<T> result;
  for (int group = 0; group < groups.count(); group++) {
    std::vector<T> sum;
    for (const int rank : groups.members(group)) {
      const auto part = contributionOf<T>(operation, rank, inputs, count);
      if (sum.empty()) {
        sum = part;
      } else {
        combineInto(operation, &sum, part);
      }
    }
    if (group == 0) {
      result = sum;
    } else {
      combineInto(operation, &result, sum);
    }
  }
  return result;
}

// The expected result of halving and doubling: neighbours are combined, round
// by round. In the first round only as many of the first ranks are combined as
// leave a power of two.
template <typename T>
std::vector<T> treeReference(Operation operation,
                             int ranks,
                             int inputs,
                             size_t count) {
  std::vector<std::vector<T>> parts;
  parts.reserve(ranks);
  for (int rank = 0; rank < ranks; rank++) {
    parts.push_back(contributionOf<T>(operation, rank, inputs, count));
  }
  while (parts.size() > 1) {
    size_t left = 1;
    while (2 * left < parts.size()) {
      left *= 2;
    }
    const size_t pairs = parts.size() - left;
    for (size_t i = 0; i < pairs; i++) {
      combineInto(operation, &parts[2 * i], parts[2 * i + 1]);
      parts[i].swap(parts[2 * i]);
    }
    parts.erase(parts.begin() + pairs, parts.begin() + 2 * pairs);
  }
  return parts[0];
}

}  // namespace testing
}  // namespace gloo
