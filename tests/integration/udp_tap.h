// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace test {

// Reads the datagrams to one port of the IPv4 loopback interface, like an
// observer on the path. Needs the right to open packet sockets.
class UdpTap {
 public:
  explicit UdpTap(uint16_t port)
      : fd_(socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_IP))),
        port_(port) {
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_IP);
    address.sll_ifindex = static_cast<int>(if_nametoindex("lo"));
    if (fd_ >= 0) {
      (void)bind(
          fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    }
  }
  ~UdpTap() {
    if (fd_ >= 0) {
      close(fd_);
    }
  }
  UdpTap(const UdpTap&) = delete;
  UdpTap& operator=(const UdpTap&) = delete;

  bool works() const { return fd_ >= 0; }

  // Gives the payload of the next datagram. Returns false if none has come.
  bool next(std::vector<std::byte>* payload) {
    std::byte bytes[65536];
    ssize_t size = 0;
    while ((size = recv(fd_, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
      iphdr ip{};
      udphdr udp{};
      if (static_cast<size_t>(size) < sizeof(ip) + sizeof(udp)) {
        continue;
      }
      std::memcpy(&ip, bytes, sizeof(ip));
      const size_t head = size_t{ip.ihl} * 4;
      if (ip.protocol != IPPROTO_UDP || head + sizeof(udp) > size_t(size)) {
        continue;
      }
      std::memcpy(&udp, bytes + head, sizeof(udp));
      if (ntohs(udp.dest) == port_) {
        payload->assign(bytes + head + sizeof(udp), bytes + size);
        return true;
      }
    }
    return false;
  }

 private:
  const int fd_;
  const uint16_t port_;
};

}  // namespace test
