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

// Connects to the first address that answers, in the manner of RFC 8305. The
// addresses are tried in order. The next attempt begins when one fails, or has
// had no answer for 250 ms (less if all attempts would not fit before the
// deadline). The earlier attempts go on. So an address that drops packets does
// not use up the time of the others.
//
// Returns 0 and in `fd` a non-blocking descriptor, which the caller owns.
// Otherwise returns an errno: ETIMEDOUT if some address has not answered by the
// deadline, else that of the last attempt. REQUIRES: at least one address.
int connectToAny(const std::vector<TcpAddress>& addresses,
                 std::chrono::steady_clock::time_point deadline,
                 int* fd);

}  // namespace rendezvous
}  // namespace gloo
