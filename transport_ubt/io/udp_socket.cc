// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/udp_socket.h"

#include <linux/sockios.h>
#include <linux/udp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/io/interface.h"

namespace ubt {
namespace {

constexpr size_t kStagingBytes = 65536;
// If the interface is unknown: an MTU that every network carries.
constexpr int kMtuUnknown = 1280;
// The bits of ECN in the field TOS or traffic class (RFC 3168, section 5).
constexpr int kCapable = 0b10;    // ECT(0)
constexpr int kCongested = 0b11;  // CE

[[noreturn]] void throwErrno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

void set(int fd, int level, int name, int value, const char* what) {
  if (setsockopt(fd, level, name, &value, sizeof(value)) != 0) {
    throwErrno(std::string("setsockopt ") + what);
  }
}

int interfaceMtu(int fd, const SocketAddress& address) {
  const std::string name = interfaceOf(address);
  ifreq request{};
  if (name.empty() || name.size() >= sizeof(request.ifr_name)) {
    return kMtuUnknown;
  }
  std::memcpy(request.ifr_name, name.c_str(), name.size() + 1);
  return ioctl(fd, SIOCGIFMTU, &request) == 0 ? request.ifr_mtu : kMtuUnknown;
}

// The index of the interface that has the address; 0 if none has.
int indexOf(const SocketAddress& address) {
  return static_cast<int>(if_nametoindex(interfaceOf(address).c_str()));
}

void join(int fd, const SocketAddress& multicast, const SocketAddress& at) {
  int failed = 0;
  if (multicast.family() == AF_INET) {
    ip_mreqn request{};
    request.imr_multiaddr =
        reinterpret_cast<const sockaddr_in*>(multicast.data())->sin_addr;
    request.imr_ifindex = indexOf(at);
    failed = setsockopt(
        fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof(request));
    // Receive only multicast that this socket has joined, not that of other
    // sockets.
    set(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0, "IP_MULTICAST_ALL");
  } else {
    ipv6_mreq request{};
    request.ipv6mr_multiaddr =
        reinterpret_cast<const sockaddr_in6*>(multicast.data())->sin6_addr;
    request.ipv6mr_interface = indexOf(at);
    failed = setsockopt(
        fd, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, &request, sizeof(request));
  }
  if (failed != 0) {
    throwErrno("cannot join " + multicast.str());
  }
}

bool isTrafficClass(const cmsghdr& header) {
  return (header.cmsg_level == IPPROTO_IP && header.cmsg_type == IP_TOS) ||
         (header.cmsg_level == IPPROTO_IPV6 && header.cmsg_type == IPV6_TCLASS);
}

// Binds to the first free port of the range.
void bindTo(int fd, const UdpSocket::Options& options) {
  sockaddr_storage storage{};
  std::memcpy(&storage, options.address.data(), options.address.size());
  for (int port = options.portLow; port <= options.portHigh; port++) {
    const SocketAddress address(storage, static_cast<uint16_t>(port));
    if (bind(fd, address.data(), address.size()) == 0) {
      return;
    }
    if (errno != EADDRINUSE) {
      throwErrno("cannot bind a UDP socket to " + address.str());
    }
  }
  throw std::runtime_error(
      "every UDP port from " + std::to_string(options.portLow) + " to " +
      std::to_string(options.portHigh) +
      " is in use: widen GLOO_UBT_PORTS, or end the programs that use them");
}

}  // namespace

UdpSocket::UdpSocket(const Options& options)
    : warn_(options.warn),
      descriptor_(socket(options.address.family(),
                         SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                         0),
                  "cannot create a UDP socket"),
      staging_(new std::byte[kStagingBytes]) {
  if (options.joinAt) {  // other ranks here may join, too
    set(fd(), SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
  }
  bindTo(fd(), options);
  if (options.joinAt) {
    join(fd(), options.address, *options.joinAt);
  }
  // Only root may exceed rmem_max; for others the kernel limits the size to
  // it.
  if (setsockopt(fd(),
                 SOL_SOCKET,
                 SO_RCVBUFFORCE,
                 &options.receiveBufferBytes,
                 sizeof(int)) != 0) {
    set(fd(), SOL_SOCKET, SO_RCVBUF, options.receiveBufferBytes, "SO_RCVBUF");
  }
  socklen_t length = sizeof(receiveBufferBytes_);
  if (getsockopt(fd(), SOL_SOCKET, SO_RCVBUF, &receiveBufferBytes_, &length) !=
      0) {
    throwErrno("getsockopt SO_RCVBUF");
  }
  sockaddr_storage bound{};
  length = sizeof(bound);
  if (getsockname(fd(), reinterpret_cast<sockaddr*>(&bound), &length) != 0) {
    throwErrno("getsockname");
  }
  const uint16_t port =
      ntohs(bound.ss_family == AF_INET
                ? reinterpret_cast<sockaddr_in*>(&bound)->sin_port
                : reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port);
  address_ = SocketAddress(bound, port);
  mtu_ = interfaceMtu(fd(), address_);
  const int on = 1;
  const int off = 0;
  // Nothing depends on these.
  const bool four = address_.family() == AF_INET;
  const int level = four ? IPPROTO_IP : IPPROTO_IPV6;
  (void)setsockopt(
      fd(), level, four ? IP_TOS : IPV6_TCLASS, &kCapable, sizeof(kCapable));
  (void)setsockopt(
      fd(), level, four ? IP_RECVTOS : IPV6_RECVTCLASS, &on, sizeof(on));
  (void)setsockopt(fd(), SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof(on));
  // An old kernel refuses these options. Then each datagram travels alone.
  (void)setsockopt(fd(), IPPROTO_UDP, UDP_GRO, &on, sizeof(on));
  segmentation_ =
      options.segmentation &&
      setsockopt(fd(), IPPROTO_UDP, UDP_SEGMENT, &off, sizeof(off)) == 0;
}

bool UdpSocket::prepareMulticast(bool loop) {
  const bool four = address_.family() == AF_INET;
  const int level = four ? IPPROTO_IP : IPPROTO_IPV6;
  const int index = indexOf(address_);
  ip_mreqn interface {};
  interface.imr_ifindex = index;
  const int hops = 1;
  const int looped = loop ? 1 : 0;
  return (four
              ? setsockopt(
                    fd(), level, IP_MULTICAST_IF, &interface, sizeof(interface))
              : setsockopt(
                    fd(), level, IPV6_MULTICAST_IF, &index, sizeof(index))) ==
             0 &&
         setsockopt(fd(),
                    level,
                    four ? IP_MULTICAST_TTL : IPV6_MULTICAST_HOPS,
                    &hops,
                    sizeof(hops)) == 0 &&
         setsockopt(fd(),
                    level,
                    four ? IP_MULTICAST_LOOP : IPV6_MULTICAST_LOOP,
                    &looped,
                    sizeof(looped)) == 0;
}

UdpSocket::Sent UdpSocket::send(const SocketAddress& to,
                                const iovec* pieces,
                                size_t count,
                                size_t segmentBytes,
                                bool train) const {
  msghdr message{};
  message.msg_name = const_cast<sockaddr*>(to.data());
  message.msg_namelen = to.size();
  message.msg_iov = const_cast<iovec*>(pieces);
  message.msg_iovlen = count;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(uint16_t))] = {};
  if (train) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = IPPROTO_UDP;
    header->cmsg_type = UDP_SEGMENT;
    header->cmsg_len = CMSG_LEN(sizeof(uint16_t));
    const auto size = static_cast<uint16_t>(segmentBytes);
    std::memcpy(CMSG_DATA(header), &size, sizeof(size));
  }
  for (;;) {
    if (sendmsg(fd(), &message, 0) >= 0) {
      return Sent::kYes;
    }
    if (errno == EINTR) {
      continue;
    }
    if (errno == EAGAIN || errno == ENOBUFS) {
      return Sent::kFull;
    }
    // The path refuses a train if its segments exceed the path MTU (EMSGSIZE
    // since kernel 6.14, EINVAL before), or if its interface cannot checksum or
    // segment (udp(7), UDP_SEGMENT).
    const bool refused =
        errno == EMSGSIZE ||
        (train && (errno == EIO || errno == EINVAL || errno == EOPNOTSUPP));
    return refused ? Sent::kRefused : Sent::kFailed;
  }
}

UdpSocket::Sent UdpSocket::sendInFragments(const SocketAddress& to,
                                           const iovec* pieces,
                                           size_t count) {
  const std::lock_guard<std::mutex> lock(cutting_);
  setCut(Cut::kAnybody);
  const Sent sent = send(to, pieces, count, 0, false);
  const int error = errno;
  setCut(Cut::kSender);
  errno = error;
  return sent;
}

bool UdpSocket::sendWhole(
    const SocketAddress& to,
    const std::vector<std::vector<std::byte>>& datagrams) const {
  std::vector<iovec> pieces;
  pieces.reserve(datagrams.size());
  for (const std::vector<std::byte>& datagram : datagrams) {
    pieces.push_back(
        {const_cast<std::byte*>(datagram.data()), datagram.size()});
  }
  const std::lock_guard<std::mutex> lock(cutting_);
  setCut(Cut::kNobody);
  const Sent sent = send(to,
                         pieces.data(),
                         pieces.size(),
                         datagrams.front().size(),
                         datagrams.size() > 1);
  setCut(Cut::kSender);
  return sent == Sent::kYes;
}

// A socket option, because no message can select this for itself. If it fails,
// the kernel's default stays: the sender fragments.
void UdpSocket::setCut(Cut cut) const {
  const bool four = address_.family() == AF_INET;
  static_assert(IP_PMTUDISC_WANT == IPV6_PMTUDISC_WANT &&
                    IP_PMTUDISC_DONT == IPV6_PMTUDISC_DONT &&
                    IP_PMTUDISC_DO == IPV6_PMTUDISC_DO,
                "both families have the same modes");
  int mode = IP_PMTUDISC_WANT;
  if (cut == Cut::kAnybody) {
    mode = IP_PMTUDISC_DONT;
  } else if (cut == Cut::kNobody) {
    mode = IP_PMTUDISC_DO;
  }
  (void)setsockopt(fd(),
                   four ? IPPROTO_IP : IPPROTO_IPV6,
                   four ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER,
                   &mode,
                   sizeof(mode));
}

bool UdpSocket::receiveTrain(Train* train) {
  iovec piece{staging_.get(), kStagingBytes};
  alignas(cmsghdr) char control[3 * CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t bytes;
  do {
    bytes = recvmsg(fd(), &message, 0);
  } while (bytes < 0 && errno == EINTR);
  if (bytes < 0) {
    return false;
  }
  train->bytes = train->segmentBytes = static_cast<size_t>(bytes);
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level == IPPROTO_UDP && header->cmsg_type == UDP_GRO) {
      int size;
      std::memcpy(&size, CMSG_DATA(header), sizeof(size));
      if (size > 0) {
        train->segmentBytes = static_cast<size_t>(size);
      }
    } else if (header->cmsg_level == SOL_SOCKET &&
               header->cmsg_type == SO_RXQ_OVFL) {
      std::memcpy(&overflows_, CMSG_DATA(header), sizeof(overflows_));
    } else if (isTrafficClass(*header)) {
      // One byte in IPv4, an int in IPv6.
      int field = 0;
      const size_t fieldBytes = header->cmsg_len - CMSG_LEN(0);
      if (fieldBytes == sizeof(field)) {
        std::memcpy(&field, CMSG_DATA(header), sizeof(field));
      } else {
        field = *CMSG_DATA(header);
      }
      train->congested = (field & kCongested) == kCongested;
    }
  }
  return true;
}

// The kernel doubles the value. The socket is writable while less than half of
// that is used.
void UdpSocket::setBacklog(size_t bytes) {
  set(fd(), SOL_SOCKET, SO_SNDBUF, static_cast<int>(bytes), "SO_SNDBUF");
}

size_t UdpSocket::waitingBytes() const {
  int waiting = 0;
  return ioctl(fd(), SIOCOUTQ, &waiting) == 0 ? static_cast<size_t>(waiting)
                                              : 0;
}

void UdpSocket::wait(int wakeFd,
                     bool writable,
                     int64_t nanoseconds,
                     int otherFd) const {
  const auto events = static_cast<short>(POLLIN | (writable ? POLLOUT : 0));
  pollfd fds[3] = {
      {fd(), events, 0}, {wakeFd, POLLIN, 0}, {otherFd, POLLIN, 0}};
  const timespec timeout{nanoseconds / 1000000000, nanoseconds % 1000000000};
  (void)ppoll(fds, 3, nanoseconds < 0 ? nullptr : &timeout, nullptr);
}

}  // namespace ubt
