// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/idle_policy.h"

#include <poll.h>

namespace ubt {
namespace {

// A shorter call takes only a few naps. Then two ranks that share a CPU lose
// more by napping than they gain.
constexpr size_t kShortCallBytes = 1 << 20;

}  // namespace

IdlePolicy IdlePolicy::inWindow(uint64_t windowBytes) const {
  return {yield, windowBytes < kNapWindowBytesMin ? Duration{0} : nap};
}

IdlePolicy IdlePolicy::forCall(const IdlePolicy& configured,
                               int ranksPerCpu,
                               size_t bytes) {
  const bool naps = configured.nap > Duration{0};
  if (ranksPerCpu < 2 ||
      (ranksPerCpu == 2 && (bytes < kShortCallBytes || !naps))) {
    return {configured.yield, Duration{0}};
  }
  return {Duration{0}, ranksPerCpu * configured.nap};
}

void nap(int wakeFd, Duration length) {
  pollfd wake = {wakeFd, POLLIN, 0};
  const timespec timeout{length.count() / 1000000000,
                         length.count() % 1000000000};
  (void)ppoll(&wake, 1, &timeout, nullptr);
}

}  // namespace ubt
