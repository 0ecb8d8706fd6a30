// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "transport_ubt/core/session/endpoint.h"
#include "transport_ubt/io/fault_injector.h"
#include "transport_ubt/io/message_tail.h"
#include "transport_ubt/io/path_limits.h"
#include "transport_ubt/io/socket_address.h"
#include "transport_ubt/io/udp_socket.h"

namespace ubt {

// Moves datagrams from an endpoint to a socket, without copying them.
// Consecutive datagrams to one peer leave as one train, if its path takes
// trains (PathLimits). Refused datagrams are sent again, one by one. Not
// thread-safe.
class PacketSender {
 public:
  // `endpoint` and `socket` must outlive this.
  PacketSender(Endpoint* endpoint,
               UdpSocket* socket,
               const FaultOptions& faults);

  // The addresses of a session's ranks, indexed by rank. Trains to the ranks
  // `losesTrains` get lost.
  void setAddresses(const Session* session,
                    std::vector<SocketAddress> addresses,
                    const std::vector<int>& losesTrains);
  void forget(const Session* session);
  // Whether trains may be sent to that host.
  bool takesTrains(const SocketAddress& host) const {
    return paths_.takesTrains(host);
  }

  // One turn: sends about `trains` trains, and at most datagramsMax(trains)
  // datagrams. So it ends even if the endpoint always has more. No train
  // follows once the socket holds LinkRate::kBacklogBytes. True if only these
  // limits ended the turn. False: the endpoint is empty, or the socket is full.
  bool send(TimePoint now, int trains);
  static constexpr size_t datagramsMax(int trains) {
    return static_cast<size_t>(trains) * UdpSocket::kTrainSegmentsMax;
  }
  // Whether the socket is full. Until it has room, nothing more is taken from
  // the endpoint.
  bool blocked() const { return full_ || !waiting_.empty(); }

  // When the next datagram held by fault injection is due; kNever if there is
  // none.
  TimePoint nextDeadline() const { return faults_.nextDeadline(); }

 private:
  // A train that the socket had no room for, or a part of one that it refused.
  // This is a copy, because the original memory may be gone after the call.
  struct Waiting {
    SocketAddress to;
    std::vector<std::byte> bytes;
    size_t segmentBytes = 0;
    size_t datagrams = 0;
  };

  void askSocket();
  bool hasRoom(TimePoint now);
  bool sendWaiting();
  void divide(const Waiting& train);
  UdpSocket::Sent offer(const SocketAddress& to,
                        const iovec* pieces,
                        size_t count,
                        size_t segmentBytes,
                        size_t datagrams);
  std::string nameOf(const SocketAddress& to) const;
  void flushTrain(size_t count);
  void sendHarmed(TimePoint now, const OutPacket& packet);
  void releaseHeld(TimePoint now);
  void transmit(const SocketAddress& to,
                const iovec* pieces,
                size_t count,
                size_t segmentBytes,
                size_t datagrams);

  Endpoint* const endpoint_;
  UdpSocket* const socket_;
  PathLimits paths_;
  const bool harmful_;
  FaultInjector faults_;
  MessageTail tail_;
  std::map<const Session*, std::vector<SocketAddress>> addresses_;
  // At most two trains, or their datagrams. While one train waits, nothing more
  // is taken from the endpoint, but a second train may have been taken already.
  std::deque<Waiting> waiting_;
  bool full_ = false;        // the socket was full when asked
  size_t waitingBytes_ = 0;  // in the socket when asked, and sent since then
  bool justAsked_ = false;   // in this turn, and nothing was sent since then
  uint64_t sentBytes_ = 0;
  // The packets of the train being built, and the session of each.
  std::vector<std::unique_ptr<OutPacket>> packets_;
  std::vector<const Session*> sessions_;
};

}  // namespace ubt
