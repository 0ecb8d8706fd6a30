// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "transport_ubt/io/socket_address.h"
#include "transport_ubt/io/udp_socket.h"

namespace ubt {

// What the path to each host takes.
//
//     trains             at first
//     single datagrams   after a train got lost (PathAgreement) or was refused
//     fragments          after a single datagram was refused
//
// The last happens when the path's MTU has shrunk.
//
// A limit stays, and holds for all ranks on that host. Not thread-safe.
class PathLimits {
 public:
  using NameOf = std::function<std::string(const SocketAddress&)>;

  // `socket` must outlive this. `nameOf` names a rank for a warning.
  PathLimits(UdpSocket* socket, NameOf nameOf);

  // Whether the socket and the path take trains.
  bool takesTrains(const SocketAddress& to) const;
  // Probes show that trains to that host get lost.
  void trainsGetLost(const SocketAddress& to);
  // Nothing is sent to that host any more.
  void forget(const SocketAddress& host);

  // Sends as UdpSocket::send() does, in the form that the path takes. kRefused:
  // it takes no such train or datagram, so send the same datagrams again, one
  // by one. The first refusal by a host makes a warning.
  UdpSocket::Sent send(const SocketAddress& to,
                       const iovec* pieces,
                       size_t count,
                       size_t segmentBytes,
                       size_t datagrams);

 private:
  enum class Takes : uint8_t { kTrains, kSingles, kFragments };
  struct Limit {
    SocketAddress host;
    Takes takes;
    bool refused;  // a warning told that
  };
  std::vector<Limit>::const_iterator find(const SocketAddress& host) const;
  Takes takes(const SocketAddress& to) const;
  Limit& limitOf(const SocketAddress& to);
  void refused(const SocketAddress& to, Takes takes, int error);

  UdpSocket* const socket_;
  const NameOf nameOf_;
  std::vector<Limit> limits_;  // one a host; of few hosts, mostly of none
};

}  // namespace ubt
