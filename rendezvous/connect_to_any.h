// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <vector>

namespace gloo {
namespace rendezvous {

struct TcpAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

// Connects to the first address that answers. Tries them in order, each for 0.5
// s (less if all would not fit before the deadline) and the last one until the
// deadline. So an address that drops packets leaves time for the others.
//
// Returns 0 and in `fd` a non-blocking descriptor, which the caller owns.
// Otherwise returns an errno: ETIMEDOUT if some address has not answered in its
// time, else that of the last attempt. REQUIRES: at least one address.
int connectToAny(const std::vector<TcpAddress>& addresses,
                 std::chrono::steady_clock::time_point deadline,
                 int* fd);

}  // namespace rendezvous
}  // namespace gloo
