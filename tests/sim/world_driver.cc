// SPDX-License-Identifier: Apache-2.0
//
// What sockets and threads do for a real endpoint.

#include <algorithm>

#include "tests/sim/world.h"

namespace ubt::sim {

TimePoint World::writableAt(int rank) const {
  return network_.writableAt(
      rank, hosts_[rank].endpoint->shared().link.backlogBytes());
}

// All that there is, or that the socket has room for.
void World::sendAll(int rank) {
  Host& host = hosts_[rank];
  LinkRate& link = host.endpoint->shared().link;
  if (network_.writableAt(rank, 0) <= events_.now()) {
    link.empty();
  }
  OutPacket packet;
  while (writableAt(rank) <= events_.now() &&
         host.endpoint->packetOut(events_.now(), &packet) != nullptr) {
    Network::Datagram datagram(packet.head, packet.head + packet.headBytes);
    if (packet.payload != nullptr) {
      datagram.insert(
          datagram.end(), packet.payload, packet.payload + packet.payloadBytes);
    }
    if (datagram.size() >
        PacketHeader::kBytes + options_.slotBytes + kSealBytes) {
      violation("a datagram is larger than the path lets through");
    }
    host.sentBytes += datagram.size();
    if (packet.peer == rank) {
      network_.multicast(rank, datagram);
    } else {
      network_.send(rank, packet.peer, datagram);
    }
  }
  if (writableAt(rank) > events_.now()) {
    link.full(events_.now(), host.sentBytes);
  }
}

void World::pump(int rank) {
  Host& host = hosts_[rank];
  if (host.crashed || !sending_) {
    return;
  }
  for (;;) {
    sendAll(rank);
    if (host.endpoint->nextDeadline() > events_.now()) {
      break;
    }
    host.endpoint->deadlinePassed(events_.now());
    if (writableAt(rank) > events_.now()) {
      break;  // what is due has to wait
    }
  }
  const Arena& arena = host.endpoint->shared().arena;
  if (arena.heldBytes() > arena.limitBytes()) {
    violation("the arena holds more than its limit");
  }
  for (Caller* caller : host.callers) {
    poll(caller);
  }
  TimePoint next = host.endpoint->nextDeadline();
  const TimePoint writable = writableAt(rank);
  if (writable > events_.now()) {
    next = next > events_.now() ? std::min(next, writable) : writable;
  }
  wake(rank, next);
}

void World::wake(int rank, TimePoint when) {
  Host& host = hosts_[rank];
  if (when == kNever || (host.wakeAt != kNever && host.wakeAt <= when)) {
    return;
  }
  host.wakeAt = when;
  events_.at(when, [this, rank, when] {
    Host& woken = hosts_[rank];
    if (woken.wakeAt != when) {
      return;
    }
    woken.wakeAt = kNever;
    pump(rank);
  });
}

}  // namespace ubt::sim
