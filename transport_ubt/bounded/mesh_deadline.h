// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include "transport_ubt/bounded/patience.h"

namespace gloo {
namespace transport {
namespace ubt {

// The deadline of a wait for other ranks that begins now.
class MeshDeadline {
 public:
  explicit MeshDeadline(std::chrono::milliseconds timeout)
      : end_(std::chrono::steady_clock::now() + patience(timeout)) {}

  // The time left, for UnboundBuffer's waits.
  std::chrono::milliseconds remaining() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end_ - std::chrono::steady_clock::now());
    // Gloo takes a negative time for the context's timeout.
    return std::max(left, std::chrono::milliseconds(1));
  }

 private:
  const std::chrono::steady_clock::time_point end_;
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
