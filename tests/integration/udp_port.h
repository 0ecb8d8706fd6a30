// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace test {

// A UDP socket on a free port of the IPv4 loopback interface.
class UdpPort {
 public:
  UdpPort() : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = loopback(0);
    socklen_t length = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (fd_ < 0 || bind(fd_, generic, length) != 0 ||
        getsockname(fd_, generic, &length) != 0) {
      throw std::runtime_error("no UDP port on loopback");
    }
    port_ = ntohs(address.sin_port);
  }
  ~UdpPort() { close(fd_); }
  UdpPort(const UdpPort&) = delete;
  UdpPort& operator=(const UdpPort&) = delete;

  uint16_t port() const { return port_; }

  // Throws std::runtime_error if the kernel refuses the datagram.
  template <typename Byte>
  void send(uint16_t port, const std::vector<Byte>& bytes) const {
    const sockaddr_in to = loopback(port);
    if (sendto(fd_,
               bytes.data(),
               bytes.size(),
               0,
               reinterpret_cast<const sockaddr*>(&to),
               sizeof(to)) < 0) {
      throw std::runtime_error("cannot send a datagram");
    }
  }

  // Whether anything has been sent to this port.
  bool hasReceived() const {
    char byte;
    return recv(fd_, &byte, 1, MSG_DONTWAIT | MSG_TRUNC) >= 0;
  }

 private:
  static sockaddr_in loopback(uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
  }

  const int fd_;
  uint16_t port_ = 0;
};

}  // namespace test
