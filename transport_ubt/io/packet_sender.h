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
#include "transport_ubt/io/socket_address.h"
#include "transport_ubt/io/udp_socket.h"

namespace ubt {

// Moves datagrams from an endpoint to a socket, neighbours to one peer as one
// train, straight from the memory they lie in. The path to a host may refuse a
// train: its MTU has shrunk, or its interface cannot segment. From then on this
// host gets single datagrams, which may be cut into fragments. One warning says
// so, and the refused datagrams are sent again. Not thread-safe.
class PacketSender {
 public:
  // All must outlive this.
  PacketSender(Endpoint* endpoint,
               UdpSocket* socket,
               const FaultOptions& faults);

  // Where a session's ranks are.
  void setAddresses(const Session* session,
                    std::vector<SocketAddress> addresses);
  void forget(const Session* session) { addresses_.erase(session); }

  // A turn: sends what `trains` trains can carry, but at most
  // datagramsMax(trains) datagrams, and has the socket hold no more than the
  // link needs (LinkRate). So it ends even if the endpoint always has another
  // one. False if there was nothing to send, or the socket is full.
  bool send(TimePoint now, int trains);
  static constexpr size_t datagramsMax(int trains) {
    return static_cast<size_t>(trains) * UdpSocket::kTrainSegmentsMax;
  }
  // Whether there is no room in the socket: nothing more is taken from the
  // endpoint until there is.
  bool blocked() const { return full_ || !waiting_.empty(); }

  // When held-back datagrams want to go (fault injection); kNever usually.
  TimePoint nextDeadline() const { return faults_.nextDeadline(); }

 private:
  // A train the socket had no room for, or a part of one that it refused. The
  // memory it was gathered from need not outlive the call that made it, so this
  // is a copy.
  struct Waiting {
    SocketAddress to;
    std::vector<std::byte> bytes;
    size_t segmentBytes = 0;
    size_t datagrams = 0;
  };

  bool hasRoom(TimePoint now);
  void fitSocket(TimePoint now);
  bool sendWaiting();
  void divide(const Waiting& train);
  UdpSocket::Sent offer(const SocketAddress& to,
                        const iovec* pieces,
                        size_t count,
                        size_t segmentBytes,
                        size_t datagrams);
  bool isNarrow(const SocketAddress& host) const;
  void refused(const SocketAddress& to, int error);
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
  const bool harmful_;
  FaultInjector faults_;
  MessageTail tail_;
  std::map<const Session*, std::vector<SocketAddress>> addresses_;
  // At most two trains, or the datagrams of such: nothing new is taken on while
  // one waits, but one may have been.
  std::deque<Waiting> waiting_;
  std::vector<SocketAddress> narrow_;  // hosts to which no train goes
  bool full_ = false;                  // the socket said so when it was asked
  size_t sinceAskedBytes_ = 0;         // sent since then
  uint64_t sentBytes_ = 0;
  size_t backlogBytes_ = LinkRate::kBacklogBytesMax;  // the socket's
  // Packets of the train being built, and which session each belongs to.
  std::vector<std::unique_ptr<OutPacket>> packets_;
  std::vector<const Session*> sessions_;
};

}  // namespace ubt
