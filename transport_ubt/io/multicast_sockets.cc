// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/multicast_sockets.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace ubt {
namespace {

// Room for all data that owners may have in flight to one rank, and for the
// kernel's overhead.
constexpr int kReceiveBufferBytes = 8 * Multicast::kWindowBytesMax;

}  // namespace

MulticastSockets::MulticastSockets() : epollFd_(epoll_create1(EPOLL_CLOEXEC)) {
  if (epollFd_ < 0) {
    throw std::system_error(errno, std::generic_category(), "epoll_create1");
  }
}

MulticastSockets::~MulticastSockets() {
  sockets_.clear();
  close(epollFd_);
}

void MulticastSockets::leave(const Session* session) {
  if (const auto socket = sockets_.find(session); socket != sockets_.end()) {
    overflowsBefore_ += socket->second->overflows();
    sockets_.erase(socket);
  }
}

uint32_t MulticastSockets::overflows() const {
  uint32_t sum = overflowsBefore_;
  for (const auto& [session, socket] : sockets_) {
    sum += socket->overflows();
  }
  return sum;
}

bool MulticastSockets::join(const Session* session,
                            const SocketAddress& multicast,
                            const SocketAddress& at) {
  UdpSocket::Options options;
  options.address = multicast;
  options.portLow = options.portHigh = multicast.port();
  options.receiveBufferBytes = kReceiveBufferBytes;
  options.joinAt = at;
  try {
    auto socket = std::make_unique<UdpSocket>(options);
    epoll_event event{};
    event.events = EPOLLIN;
    if (epoll_ctl(epollFd_, EPOLL_CTL_ADD, socket->fd(), &event) != 0) {
      return false;
    }
    sockets_[session] = std::move(socket);
    return true;
  } catch (const std::runtime_error&) {  // includes std::system_error
    return false;
  }
}

}  // namespace ubt
