// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/staggered_connect.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>

#include "transport_ubt/core/base/require.h"

namespace gloo {
namespace rendezvous {

namespace {

using Clock = std::chrono::steady_clock;

// RFC 8305, section 8: how long one attempt has before the next one begins.
constexpr std::chrono::milliseconds kPause(250);

// Pending connections. The destructor closes those that are left.
class Attempts {
 public:
  Attempts() = default;
  ~Attempts() {
    for (const pollfd& entry : entries_) {
      close(entry.fd);
    }
  }
  Attempts(const Attempts&) = delete;
  Attempts& operator=(const Attempts&) = delete;

  bool any() const { return !entries_.empty(); }

  // Returns 0 or an errno.
  int begin(const TcpAddress& address) {
    const int fd = socket(address.storage.ss_family,
                          SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                          0);
    if (fd < 0) {
      return errno;
    }
    const auto* const generic =
        reinterpret_cast<const sockaddr*>(&address.storage);
    if (connect(fd, generic, address.length) != 0 && errno != EINPROGRESS &&
        errno != EINTR) {
      const int error = errno;
      close(fd);
      return error;
    }
    entries_.push_back({fd, POLLOUT, 0});
    return 0;
  }

  // Waits until some attempt ends, or until `until`. Returns a connected
  // descriptor or -1. If attempts failed, `error` is the errno of the last one.
  int wait(Clock::time_point until, int* error) {
    const auto left = std::max(until - Clock::now(), Clock::duration::zero());
    // Rounded up: a wait that ends too early would spin.
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    if (poll(entries_.data(),
             entries_.size(),
             static_cast<int>(std::min<int64_t>(ms, INT_MAX))) <= 0) {
      return -1;
    }
    int connected = -1;
    for (size_t i = entries_.size(); i-- > 0 && connected < 0;) {
      if (entries_[i].revents == 0) {
        continue;
      }
      const int fd = entries_[i].fd;
      int failure = 0;
      socklen_t size = sizeof(failure);
      getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size);
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
      if (failure == 0) {
        connected = fd;
      } else {
        *error = failure;
        close(fd);
      }
    }
    return connected;
  }

 private:
  std::vector<pollfd> entries_;
};

}  // namespace

int connectToAny(const std::vector<TcpAddress>& addresses,
                 Clock::time_point deadline,
                 int* fd) {
  UBT_REQUIRE(!addresses.empty());
  Clock::time_point now = Clock::now();
  const auto pause =
      std::min<Clock::duration>(kPause, (deadline - now) / addresses.size());
  Attempts attempts;
  size_t next = 0;
  Clock::time_point nextAt = now;
  int error = 0;
  while (next < addresses.size() || attempts.any()) {
    now = Clock::now();
    if (next < addresses.size() && (now >= nextAt || !attempts.any())) {
      const int failure = attempts.begin(addresses[next++]);
      error = failure != 0 ? failure : error;
      nextAt = failure != 0 ? now : now + pause;
      continue;
    }
    int failure = 0;
    *fd = attempts.wait(
        next < addresses.size() ? std::min(nextAt, deadline) : deadline,
        &failure);
    if (*fd >= 0) {
      return 0;
    }
    if (failure != 0) {
      error = failure;
      nextAt = now;
    }
    if (attempts.any() && Clock::now() >= deadline) {
      return ETIMEDOUT;
    }
  }
  return error;
}

}  // namespace rendezvous
}  // namespace gloo
