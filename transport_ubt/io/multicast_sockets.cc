// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/multicast_sockets.h"

#include <sys/epoll.h>

#include <stdexcept>
#include <utility>

namespace ubt {

MulticastSockets::MulticastSockets(int receiveBufferBytes)
    : receiveBufferBytes_(receiveBufferBytes),
      epoll_(epoll_create1(EPOLL_CLOEXEC), "epoll_create1") {}

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
  options.receiveBufferBytes = receiveBufferBytes_;
  options.joinAt = at;
  try {
    auto socket = std::make_unique<UdpSocket>(options);
    epoll_event event{};
    event.events = EPOLLIN;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket->fd(), &event) != 0) {
      return false;
    }
    sockets_[session] = std::move(socket);
    return true;
  } catch (const std::runtime_error&) {  // includes std::system_error
    return false;
  }
}

}  // namespace ubt
