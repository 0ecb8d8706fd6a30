// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include "transport_ubt/bounded/patience.h"

namespace gloo {
namespace transport {
namespace ubt {

// When what waits for other ranks, and begins now, has to be over.
class MeshDeadline {
 public:
  explicit MeshDeadline(std::chrono::milliseconds timeout)
      : end_(std::chrono::steady_clock::now() + patience(timeout)) {}

  // For UnboundBuffer's waits.
  std::chrono::milliseconds remaining() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end_ - std::chrono::steady_clock::now());
    // Negative would mean "the context's timeout".
    return std::max(left, std::chrono::milliseconds(1));
  }

 private:
  const std::chrono::steady_clock::time_point end_;
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
