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

// What the path to each host takes: trains; or single datagrams, because probes
// found that trains get lost on it (PathAgreement); or single datagrams,
// perhaps in fragments, because it refused a datagram: its MTU has shrunk, or
// its interface cannot segment. A limit stays, and holds for all ranks on that
// host. Not thread-safe.
class PathLimits {
 public:
  using NameOf = std::function<std::string(const SocketAddress&)>;

  // `socket` must outlive this. `nameOf` names a rank for a warning.
  PathLimits(UdpSocket* socket, NameOf nameOf);

  // Whether the socket and the path take trains.
  bool takesTrains(const SocketAddress& to) const;
  // Trains get lost on the way to that host.
  void loseTrains(const SocketAddress& to);

  // Sends as UdpSocket::send() does, in the form that the path takes. kRefused:
  // it takes no such train, so send the same datagrams again, one by one. The
  // first refusal by a host makes a warning.
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
  };
  Takes takes(const SocketAddress& to) const;
  void limit(const SocketAddress& to, Takes takes);
  void refused(const SocketAddress& to, int error);

  UdpSocket* const socket_;
  const NameOf nameOf_;
  std::vector<Limit> limits_;  // of few hosts, mostly of none
};

}  // namespace ubt
