// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/socket_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>
#include <stdexcept>

namespace ubt {

SocketAddress::SocketAddress(const sockaddr_storage& storage, uint16_t port)
    : storage_(storage) {
  if (storage.ss_family == AF_INET) {
    reinterpret_cast<sockaddr_in*>(&storage_)->sin_port = htons(port);
  } else if (storage.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&storage_)->sin6_port = htons(port);
  } else {
    throw std::invalid_argument("address family " +
                                std::to_string(storage.ss_family) +
                                " is not IPv4 or IPv6");
  }
}

socklen_t SocketAddress::size() const {
  return family() == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
}

uint16_t SocketAddress::port() const {
  return ntohs(
      family() == AF_INET
          ? reinterpret_cast<const sockaddr_in*>(&storage_)->sin_port
          : reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_port);
}

bool SocketAddress::sameHost(const SocketAddress& other) const {
  if (family() != other.family()) {
    return false;
  }
  if (family() == AF_INET) {
    return reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in*>(other.data())->sin_addr.s_addr;
  }
  return std::memcmp(
             &reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr,
             &reinterpret_cast<const sockaddr_in6*>(other.data())->sin6_addr,
             sizeof(in6_addr)) == 0;
}

bool SocketAddress::isLoopback() const {
  if (family() == AF_INET) {
    const auto* const in = reinterpret_cast<const sockaddr_in*>(&storage_);
    return ntohl(in->sin_addr.s_addr) >> 24 == 127;
  }
  return IN6_IS_ADDR_LOOPBACK(
      &reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr);
}

std::string SocketAddress::str() const {
  char text[INET6_ADDRSTRLEN] = "none";
  if (family() == AF_INET) {
    inet_ntop(AF_INET,
              &reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr,
              text,
              sizeof(text));
    return std::string(text) + ":" + std::to_string(port());
  }
  inet_ntop(AF_INET6,
            &reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr,
            text,
            sizeof(text));
  return "[" + std::string(text) + "]:" + std::to_string(port());
}

}  // namespace ubt
