// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/common/error.h>

#include <algorithm>
#include <chrono>

namespace gloo {
namespace transport {
namespace ubt {

// The wait that a Gloo timeout allows, but at most a year, so that a deadline
// made of it overflows no clock. For kNoTimeout, a year.
inline std::chrono::milliseconds patience(std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds kYear = std::chrono::hours(24 * 365);
  return timeout == kNoTimeout ? kYear : std::min(timeout, kYear);
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
