// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace ubt {

// An IPv4 or IPv6 address with a port, by value.
class SocketAddress {
 public:
  SocketAddress() = default;
  // Throws std::invalid_argument for any other family.
  SocketAddress(const sockaddr_storage& storage, uint16_t port);

  const sockaddr* data() const {
    return reinterpret_cast<const sockaddr*>(&storage_);
  }
  socklen_t size() const;
  int family() const { return storage_.ss_family; }
  // The bytes of the IP and UDP headers of a datagram to this address.
  int headerBytes() const { return (family() == AF_INET6 ? 40 : 20) + 8; }
  uint16_t port() const;
  // The same address with another port.
  SocketAddress withPort(uint16_t port) const {
    return SocketAddress(storage_, port);
  }
  // Whether the IP addresses are the same. Ports are ignored.
  bool sameHost(const SocketAddress& other) const;
  // Whether only processes of the same host can reach it.
  bool isLoopback() const;
  // "127.0.0.1:80" or "[::1]:80".
  std::string str() const;

 private:
  sockaddr_storage storage_{};
};

}  // namespace ubt
