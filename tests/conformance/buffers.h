// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace gloo {
namespace testing {

// The inputs of one rank.
template <typename T>
using Buffers = std::vector<std::vector<T>>;

template <typename T>
std::vector<T*> pointersTo(Buffers<T>& buffers) {
  std::vector<T*> pointers;
  for (auto& buffer : buffers) {
    pointers.push_back(buffer.data());
  }
  return pointers;
}

}  // namespace testing
}  // namespace gloo
