// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "transport_ubt/core/session/session.h"
#include "transport_ubt/io/descriptor.h"
#include "transport_ubt/io/udp_socket.h"

namespace ubt {

// The sockets that receive multicast, one for each session that has joined. Not
// thread-safe, but any thread may wait for fd().
class MulticastSockets {
 public:
  // `receiveBufferBytes`: as in UdpSocket::Options, of each socket. Throws
  // std::system_error if there are no descriptors left.
  explicit MulticastSockets(int receiveBufferBytes);
  MulticastSockets(const MulticastSockets&) = delete;
  MulticastSockets& operator=(const MulticastSockets&) = delete;

  // Joins the multicast address `multicast` on the interface that has the
  // address `at`. If that fails, returns false: the session receives no
  // multicast.
  bool join(const Session* session,
            const SocketAddress& multicast,
            const SocketAddress& at);
  void leave(const Session* session);

  // The sum of UdpSocket::overflows() of all that have ever joined.
  uint32_t overflows() const;

  // Readable while any socket has a datagram. Never changes.
  int fd() const { return epoll_.get(); }
  bool any() const { return !sockets_.empty(); }

  // Like UdpSocket::receive(), with one train of each socket.
  template <typename Take>
  bool receive(Take&& take) {
    bool received = false;
    for (auto& [session, socket] : sockets_) {
      received = socket->receive(take) || received;
    }
    return received;
  }

 private:
  const int receiveBufferBytes_;
  const Descriptor epoll_;
  uint32_t overflowsBefore_ = 0;  // of sockets that have left
  std::map<const Session*, std::unique_ptr<UdpSocket>> sockets_;
};

}  // namespace ubt
