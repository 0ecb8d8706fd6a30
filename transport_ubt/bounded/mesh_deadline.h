// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/common/error.h>

#include <algorithm>
#include <chrono>

namespace ubt {

// The wait that a Gloo timeout allows, but at most a year, so that a deadline
// made of it overflows no clock. For gloo::kNoTimeout, a year.
inline std::chrono::milliseconds allowedWait(
    std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds kYear = std::chrono::hours(24 * 365);
  return timeout == gloo::kNoTimeout ? kYear : std::min(timeout, kYear);
}

// The deadline of a wait for other ranks that begins now.
class MeshDeadline {
 public:
  explicit MeshDeadline(std::chrono::milliseconds timeout)
      : end_(std::chrono::steady_clock::now() + allowedWait(timeout)) {}

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
