// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/connect_to_any.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "rendezvous/poll_until.h"
#include "transport_ubt/core/base/require.h"

namespace gloo {
namespace rendezvous {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kAttemptMax(500);

// Returns 0 or an errno.
int connectBy(int fd, const TcpAddress& address, Clock::time_point deadline) {
  const auto* const generic =
      reinterpret_cast<const sockaddr*>(&address.storage);
  if (connect(fd, generic, address.length) == 0) {
    return 0;
  }
  if (errno != EINPROGRESS && errno != EINTR) {
    return errno;
  }
  int error = pollUntil(fd, POLLOUT, deadline);
  if (error == 0) {
    socklen_t size = sizeof(error);
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  return error;
}

}  // namespace

int connectToAny(const std::vector<TcpAddress>& addresses,
                 Clock::time_point deadline,
                 int* fd) {
  UBT_REQUIRE(!addresses.empty());
  bool silent = false;
  int error = 0;
  for (size_t i = 0; i < addresses.size(); i++) {
    const size_t rest = addresses.size() - i;
    const auto now = Clock::now();
    const auto until = rest == 1
                           ? deadline
                           : now + std::min<Clock::duration>(
                                       kAttemptMax, (deadline - now) / rest);
    *fd = socket(addresses[i].storage.ss_family,
                 SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                 0);
    error = *fd < 0 ? errno : connectBy(*fd, addresses[i], until);
    if (error == 0) {
      return 0;
    }
    silent = silent || error == ETIMEDOUT;
    if (*fd >= 0) {
      close(*fd);
    }
  }
  *fd = -1;
  return silent ? ETIMEDOUT : error;
}

}  // namespace rendezvous
}  // namespace gloo
