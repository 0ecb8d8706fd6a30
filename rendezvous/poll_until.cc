// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/poll_until.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>

namespace gloo {
namespace rendezvous {

int pollUntil(int fd,
              short events,
              std::chrono::steady_clock::time_point deadline) {
  using Clock = std::chrono::steady_clock;
  for (;;) {
    const auto left = std::max(deadline - Clock::now(), Clock::duration(0));
    // Rounded up: a wait that ends too early would spin.
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    pollfd entry{fd, events, 0};
    const int ready =
        poll(&entry, 1, static_cast<int>(std::min<int64_t>(ms, INT_MAX)));
    if (ready > 0) {
      return 0;
    }
    if (ready < 0 && errno != EINTR) {
      return errno;
    }
    if (Clock::now() >= deadline) {
      return ETIMEDOUT;
    }
  }
}

}  // namespace rendezvous
}  // namespace gloo
