// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "transport_ubt/io/socket_address.h"
#include "transport_ubt/io/udp_socket.h"

namespace ubt {

// Without a port.
inline SocketAddress loopback() {
  sockaddr_storage storage{};
  auto* const address = reinterpret_cast<sockaddr_in*>(&storage);
  address->sin_family = AF_INET;
  address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return SocketAddress(storage, 0);
}

inline UdpSocket::Options onLoopback() {
  UdpSocket::Options options;
  options.address = loopback();
  return options;
}

}  // namespace ubt
