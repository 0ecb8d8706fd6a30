// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/packet_sender.h"

#include <utility>

#include "transport_ubt/io/interface.h"

namespace ubt {

PacketSender::PacketSender(Endpoint* endpoint,
                           UdpSocket* socket,
                           const FaultOptions& faults)
    : endpoint_(endpoint),
      socket_(socket),
      paths_(socket, [this](const auto& to) { return nameOf(to); }),
      harmful_(faults.any()),
      faults_(faults),
      tail_(faults.tail),
      sessions_(UdpSocket::kTrainSegmentsMax + 1) {
  socket_->setBacklog(LinkRate::kBacklogBytes);
  while (packets_.size() < sessions_.size()) {
    packets_.push_back(std::make_unique<OutPacket>());
  }
}

void PacketSender::setAddresses(const Session* session,
                                std::vector<SocketAddress> addresses,
                                const std::vector<int>& losesTrains) {
  for (SocketAddress& address : addresses) {
    address = reachedFrom(socket_->address(), address);
  }
  for (const int rank : losesTrains) {
    paths_.trainsGetLost(addresses[rank]);
  }
  addresses_[session] = std::move(addresses);
}

void PacketSender::forget(const Session* session) {
  const auto found = addresses_.find(session);
  if (found != addresses_.end()) {
    // A multicast address is the session's own. Other hosts' limits stay.
    paths_.forget(found->second[session->rank()]);
    addresses_.erase(found);
  }
}

bool PacketSender::send(TimePoint now, int trains) {
  full_ = false;
  LinkRate& link = endpoint_->shared().link;
  justAsked_ = false;
  if (link.measuring()) {
    askSocket();
    if (waitingBytes_ == 0) {
      link.empty();
    }
  }
  if (!sendWaiting()) {
    link.full(now, sentBytes_);
    return false;
  }
  if (harmful_) {
    releaseHeld(now);
  }
  size_t left = datagramsMax(trains);
  bool over = false;  // the endpoint has no more
  for (int sent = 0;
       sent < trains && left > 0 && !over && !blocked() && hasRoom(now);
       sent++) {
    size_t count = 0;
    size_t bytes = 0;
    // A train has datagrams to one peer of one session, all of one size. Only
    // the last may be shorter; it may be the control that goes with the data.
    while (count < UdpSocket::kTrainSegmentsMax && left > 0 && !blocked()) {
      OutPacket& packet = *packets_[count];
      sessions_[count] = endpoint_->packetOut(now, &packet);
      if (sessions_[count] == nullptr) {
        over = true;
        break;
      }
      left--;
      if (harmful_) {
        sendHarmed(now, packet);
        continue;
      }
      const OutPacket& head = *packets_[0];
      const size_t size = packet.headBytes + packet.payloadBytes;
      const size_t first = head.headBytes + head.payloadBytes;
      const bool joins =
          count > 0 && head.type == PacketType::kData &&
          sessions_[count] == sessions_[0] && packet.peer == head.peer &&
          size <= first && bytes + size <= UdpSocket::kTrainBytesMax &&
          paths_.takesTrains(addresses_[sessions_[0]][head.peer]);
      if (count > 0 && !joins) {
        flushTrain(count);
        std::swap(packets_[0], packets_[count]);
        sessions_[0] = sessions_[count];
        count = 0;
        bytes = 0;
      }
      count++;
      bytes += size;
      if (count > 1 && size < first) {
        break;  // a shorter one ends the train
      }
    }
    if (count > 0) {
      flushTrain(count);
    }
  }
  return !blocked() && !over;
}

void PacketSender::flushTrain(size_t count) {
  iovec pieces[2 * UdpSocket::kTrainSegmentsMax];
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    OutPacket& packet = *packets_[i];
    pieces[used++] = {packet.head, packet.headBytes};
    if (packet.payloadBytes > 0) {
      pieces[used++] = {const_cast<std::byte*>(packet.payload),
                        packet.payloadBytes};
    }
  }
  const OutPacket& first = *packets_[0];
  transmit(addresses_[sessions_[0]][first.peer],
           pieces,
           used,
           first.headBytes + first.payloadBytes,
           count);
}

void PacketSender::transmit(const SocketAddress& to,
                            const iovec* pieces,
                            size_t count,
                            size_t segmentBytes,
                            size_t datagrams) {
  const auto sent = blocked()
                        ? UdpSocket::Sent::kFull
                        : offer(to, pieces, count, segmentBytes, datagrams);
  if (sent != UdpSocket::Sent::kFull && sent != UdpSocket::Sent::kRefused) {
    return;
  }
  Waiting train{to, {}, segmentBytes, datagrams};
  for (size_t i = 0; i < count; i++) {
    const auto* const piece = static_cast<const std::byte*>(pieces[i].iov_base);
    train.bytes.insert(train.bytes.end(), piece, piece + pieces[i].iov_len);
  }
  waiting_.push_back(std::move(train));
  if (sent == UdpSocket::Sent::kRefused) {
    sendWaiting();
  }
}

UdpSocket::Sent PacketSender::offer(const SocketAddress& to,
                                    const iovec* pieces,
                                    size_t count,
                                    size_t segmentBytes,
                                    size_t datagrams) {
  const auto sent = paths_.send(to, pieces, count, segmentBytes, datagrams);
  if (sent == UdpSocket::Sent::kFailed) {
    // The protocol recovers from this as from a loss on the network.
    endpoint_->shared().counters.add(Counter::kSendFailed, datagrams);
  }
  if (sent == UdpSocket::Sent::kFailed || sent == UdpSocket::Sent::kRefused) {
    return sent;
  }
  justAsked_ = false;
  for (size_t i = 0; i < count && sent == UdpSocket::Sent::kYes; i++) {
    waitingBytes_ += pieces[i].iov_len;
    sentBytes_ += pieces[i].iov_len;
  }
  return sent;
}

std::string PacketSender::nameOf(const SocketAddress& to) const {
  for (const auto& [session, addresses] : addresses_) {
    for (size_t rank = 0; rank < addresses.size(); rank++) {
      if (addresses[rank].str() == to.str()) {
        return "rank " + std::to_string(rank) + " (" + to.str() + ")";
      }
    }
  }
  return to.str();
}

void PacketSender::askSocket() {
  waitingBytes_ = socket_->waitingBytes();
  justAsked_ = true;
}

// Asks the socket before a train is built, because a train without room must be
// copied and wait. Does not ask while there is surely room.
bool PacketSender::hasRoom(TimePoint now) {
  if (!justAsked_ && waitingBytes_ >= LinkRate::kBacklogBytes / 2) {
    askSocket();
  }
  full_ = waitingBytes_ >= LinkRate::kBacklogBytes;
  if (full_) {
    endpoint_->shared().link.full(now, sentBytes_);
  }
  return !full_;
}

// True if no train waits afterwards.
bool PacketSender::sendWaiting() {
  while (!waiting_.empty()) {
    const Waiting& train = waiting_.front();
    const iovec piece{const_cast<std::byte*>(train.bytes.data()),
                      train.bytes.size()};
    const auto sent =
        offer(train.to, &piece, 1, train.segmentBytes, train.datagrams);
    if (sent == UdpSocket::Sent::kFull) {
      return false;
    }
    const Waiting taken = std::move(waiting_.front());
    waiting_.pop_front();
    if (sent == UdpSocket::Sent::kRefused) {
      divide(taken);
    }
  }
  return true;
}

// Puts the train's datagrams into its place in the queue, one by one.
void PacketSender::divide(const Waiting& train) {
  size_t end = train.bytes.size();
  while (end > 0) {
    const size_t begin = (end - 1) / train.segmentBytes * train.segmentBytes;
    waiting_.push_front(
        {train.to,
         {train.bytes.begin() + begin, train.bytes.begin() + end},
         end - begin,
         1});
    end = begin;
  }
}

void PacketSender::sendHarmed(TimePoint now, const OutPacket& packet) {
  const Session* const session = sessions_[0];
  const MessageTail::Context context{session->epoch(),
                                     session->rank(),
                                     session->size(),
                                     session->slotBytesMax()};
  PacketHeader header;
  if (PacketHeader::decode(packet.head, packet.headBytes, &header) &&
      tail_.holds(context, packet.peer, header)) {
    endpoint_->shared().counters.add(Counter::kLostOnPurpose);
    releaseHeld(now);
    return;
  }
  std::vector<std::byte> datagram(packet.head, packet.head + packet.headBytes);
  if (packet.payloadBytes > 0) {
    datagram.insert(
        datagram.end(), packet.payload, packet.payload + packet.payloadBytes);
  }
  if (!faults_.send(now,
                    session->rank(),
                    addresses_[session][packet.peer],
                    std::move(datagram))) {
    endpoint_->shared().counters.add(Counter::kLostOnPurpose);
  }
  releaseHeld(now);
}

void PacketSender::releaseHeld(TimePoint now) {
  FaultInjector::Held held;
  while (!blocked() && faults_.due(now, &held)) {
    const iovec piece{held.datagram.data(), held.datagram.size()};
    transmit(held.to, &piece, 1, held.datagram.size(), 1);
  }
}

}  // namespace ubt
