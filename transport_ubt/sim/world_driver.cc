// SPDX-License-Identifier: Apache-2.0
//
// The part of sockets and threads around a real endpoint.

#include <algorithm>
#include <utility>

#include "transport_ubt/sim/false_credit.h"
#include "transport_ubt/sim/world.h"

namespace ubt::sim {
namespace {

Network::Datagram datagramOf(const OutPacket& packet) {
  Network::Datagram datagram;
  datagram.reserve(packet.headBytes + packet.payloadBytes);
  datagram.assign(packet.head, packet.head + packet.headBytes);
  if (packet.payload != nullptr) {
    datagram.insert(
        datagram.end(), packet.payload, packet.payload + packet.payloadBytes);
  }
  return datagram;
}

}  // namespace

TimePoint World::writableAt(int rank) const {
  return std::max(hosts_[rank].sendBlockedUntil,
                  network_.writableAt(rank, LinkRate::kBacklogBytes));
}

void World::sendNow(int rank, int peer, const Network::Train& train) {
  if (peer == rank) {
    network_.multicast(rank, train);  // it travels alone: joins()
  } else {
    network_.send(rank, peer, train);
  }
}

bool World::joins(const OpenTrain& train,
                  int rank,
                  int peer,
                  const Network::Datagram& datagram) const {
  return !train.datagrams.empty() && peer == train.to && peer != rank &&
         datagram.size() <= train.datagrams.front().size() &&
         train.bytes + datagram.size() <= options_.trainBytes;
}

// Hands the train to the socket, if there is one. The next one begins.
void World::flush(int rank, OpenTrain* train) {
  OpenTrain open = std::exchange(*train, {});
  if (open.datagrams.empty()) {
    return;
  }
  const auto sent =
      std::make_shared<const Network::Datagrams>(std::move(open.datagrams));
  Host& host = hosts_[rank];
  const SendFailures& fails = options_.faults.sends;
  if (!chance(fails.share)) {
    sendNow(rank, open.to, sent);
  } else if (fails.later == Duration{0}) {
    faults_.happened(Fault::kSendFailure);
    host.endpoint->shared().counters.add(Counter::kSendFailed, sent->size());
    network_.lostAtHost(sent);
  } else {
    faults_.happened(Fault::kSendDelay);
    host.sendBlockedUntil = events_.now() + fails.later;
    events_.at(host.sendBlockedUntil,
               [this, rank, to = open.to, sent] { sendNow(rank, to, sent); });
  }
}

// Sends everything that is ready and that the socket has room for.
void World::sendAll(int rank) {
  Host& host = hosts_[rank];
  LinkRate& link = host.endpoint->shared().link;
  if (network_.writableAt(rank, 0) <= events_.now()) {
    link.empty();
  }
  OpenTrain train;
  OutPacket packet;
  while ((!train.datagrams.empty() || writableAt(rank) <= events_.now()) &&
         host.endpoint->packetOut(nowAt(rank), &packet) != nullptr) {
    Network::Datagram datagram = datagramOf(packet);
    if (datagram.size() >
        PacketHeader::kBytes + options_.slotBytes + kSealBytes) {
      violation("a datagram is larger than the path lets through");
    }
    makeCreditFalse(rank, packet.peer, &datagram);
    host.sentBytes += datagram.size();
    if (digest_ != nullptr) {
      digest_->sent(rank, packet.peer, nowAt(rank), datagram);
    }
    if (!joins(train, rank, packet.peer, datagram)) {
      flush(rank, &train);
      train.to = packet.peer;
    }
    train.bytes += datagram.size();
    train.datagrams.push_back(std::move(datagram));
    // Only data is followed by others, and a shorter datagram ends a train. A
    // datagram that found no room has already left the endpoint.
    if (packet.type != PacketType::kData ||
        train.datagrams.back().size() < train.datagrams.front().size() ||
        train.bytes >= options_.trainBytes ||
        writableAt(rank) > events_.now()) {
      flush(rank, &train);
    }
  }
  flush(rank, &train);
  if (writableAt(rank) > events_.now()) {
    link.full(nowAt(rank), host.sentBytes);
  }
}

void World::pump(int rank) {
  Host& host = hosts_[rank];
  if (host.crashed || !sending_) {
    return;
  }
  if (paused(rank)) {
    wake(rank, host.pausedUntil);
    return;
  }
  if (host.busyUntil <= events_.now()) {
    host.endpoint->drained(nowAt(rank));
  }
  for (;;) {
    sendAll(rank);
    if (host.endpoint->nextDeadline() > nowAt(rank)) {
      break;
    }
    host.endpoint->deadlinePassed(nowAt(rank));
    if (writableAt(rank) > events_.now()) {
      break;  // due packets have to wait
    }
  }
  const Arena& arena = host.endpoint->shared().arena;
  if (arena.heldBytes() > arena.limitBytes()) {
    violation("the arena holds more than its limit");
  }
  for (Caller* caller : host.callers) {
    poll(caller);
  }
  TimePoint next = host.clock.when(host.endpoint->nextDeadline());
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

// Incoming datagrams ---------------------------------------------------------

void World::receive(int rank,
                    const Network::Arrived& datagram,
                    bool congested) {
  Host& host = hosts_[rank];
  const Inbox& inbox = options_.faults.inbox;
  const bool polls = rank == inbox.polls;
  const bool waits = polls || paused(rank) || host.busyUntil > events_.now() ||
                     !host.inbox.empty();
  if (host.crashed || !waits) {
    take(rank, *datagram, congested);
    return;
  }
  if (inbox.bytesMax > 0 &&
      host.inboxBytes + datagram->size() > inbox.bytesMax) {
    faults_.happened(Fault::kFullBuffer);
    host.overflows++;
    deafTo(*datagram);
    return;
  }
  faults_.happened(paused(rank) ? Fault::kPause : Fault::kCpu);
  host.inbox.push_back({datagram, congested});
  host.inboxBytes += datagram->size();
  if (!host.draining) {
    host.draining = true;
    events_.at(std::max({host.pausedUntil,
                         host.busyUntil,
                         polls ? nextOf(inbox.pollsEvery) : TimePoint{}}),
               [this, rank] { drain(rank); });
  }
}

void World::drain(int rank) {
  Host& host = hosts_[rank];
  const auto free = [&] {
    return host.crashed ? TimePoint{}
                        : std::max(host.pausedUntil, host.busyUntil);
  };
  while (!host.inbox.empty() && free() <= events_.now()) {
    const Host::Waiting next = std::move(host.inbox.front());
    host.inbox.pop_front();
    host.inboxBytes -= next.datagram->size();
    take(rank, *next.datagram, next.congested);
  }
  host.draining = !host.inbox.empty();
  if (host.draining) {
    events_.at(free(), [this, rank] { drain(rank); });
  }
}

// Counts a datagram that no rank of the job handles.
void World::deafTo(const Network::Datagram& datagram) {
  (Network::typeOf(datagram) == PacketType::kData ? traffic_.deafData
                                                  : traffic_.deafControl)++;
}

void World::noteArrival(int rank,
                        const Network::Datagram& datagram,
                        const Counters& before) {
  Host& host = hosts_[rank];
  PacketHeader header;
  PacketHeader::decode(datagram.data(), datagram.size(), &header);
  if (header.type != PacketType::kData) {
    return;
  }
  for (const Counter fate :
       {Counter::kAcceptedData, Counter::kLateData, Counter::kArenaFull}) {
    if (host.endpoint->shared().counters.get(fate) > before.get(fate)) {
      host.arrivals.note(header, fate);
    }
  }
}

// Whether reports can be compared with arrivals. Once false, it stays so until
// the rank restarts.
bool World::tellsArrivals(int rank) const {
  const Counters& counters = hosts_[rank].endpoint->shared().counters;
  return !options_.noData && counters.get(Counter::kDroppedEarly) == 0 &&
         counters.get(Counter::kEvictedOps) == 0 &&
         counters.get(Counter::kExpiredOps) == 0 &&
         (options_.contexts == 1 || options_.seed % 2 == 0);
}

void World::take(int rank, const Network::Datagram& datagram, bool congested) {
  Host& host = hosts_[rank];
  if (host.crashed || (rank == 0 && events_.now() < joined_)) {
    if (!host.crashed) {
      faults_.happened(Fault::kDeafAtFirst);
    }
    deafTo(datagram);
    return;
  }
  const Inbox& inbox = options_.faults.inbox;
  PacketHeader header;
  const int from =
      PacketHeader::decode(datagram.data(), datagram.size(), &header)
          ? header.source
          : -1;
  const bool goesOn = from == host.trainFrom && host.busyUntil == events_.now();
  host.trainFrom = from;
  host.busyUntil = events_.now() + inbox.perDatagram +
                   (goesOn ? Duration{0} : inbox.perTrain);
  if (chance(options_.strangers)) {
    strangerTo(rank, datagram);
  }
  if (chance(options_.faults.corruption)) {
    corruptedTo(rank, datagram);
    return;
  }
  if (wrongResultDue(rank, header)) {
    faults_.happened(Fault::kWrongResult);
    Network::Datagram wrong = datagram;
    wrong.back() ^= std::byte{1};
    deliver(rank, wrong, congested);
  } else {
    deliver(rank, datagram, congested);
  }
}

void World::deliver(int rank,
                    const Network::Datagram& datagram,
                    bool congested) {
  Host& host = hosts_[rank];
  const Counters before = host.endpoint->shared().counters;
  if (host.overflows > 0) {
    host.endpoint->overflowed(std::exchange(host.overflows, 0));
  }
  host.endpoint->packetIn(
      nowAt(rank), datagram.data(), datagram.size(), congested);
  const Counters& counters = host.endpoint->shared().counters;
  if (tellsArrivals(rank)) {
    noteArrival(rank, datagram, before);
  }
  if (anyGone_ && Checker::rejectedIn(counters) > Checker::rejectedIn(before)) {
    // From, or for, a process or context that is gone.
    traffic_.strangers++;
    deafTo(datagram);
  }
  if (options_.wakesEvery == Duration{0}) {
    pump(rank);
    return;
  }
  wake(rank, nextOf(options_.wakesEvery));
}

// The next multiple of the period, after now.
TimePoint World::nextOf(Duration period) const {
  return events_.now() + period - events_.now().time_since_epoch() % period;
}

// The credit from `from` to `to`. A greedy rank believes that it has some.
// REQUIRES one context.
void World::makeCreditFalse(int from, int to, Network::Datagram* datagram) {
  const FalseCredit& credit = options_.faults.falseCredit;
  const bool stingy = from == credit.stingy;
  const bool greedy = to == credit.greedy;
  if ((!stingy && !greedy) ||
      Network::typeOf(*datagram) != PacketType::kControl) {
    return;
  }
  uint64_t& told = creditTold_[{from, to}];
  if (network_.sinceStart() < credit.at) {
    told = creditIn(*datagram);
    return;
  }
  faults_.happened(Fault::kFalseCredit);
  setCredit(datagram, keysOf(from, to, 0), greedy ? told + (1 << 20) : told);
}

bool World::wrongResultDue(int rank, const PacketHeader& header) const {
  const WrongResult& wrong = options_.faults.wrongResult;
  return rank == wrong.rank && header.type == PacketType::kData &&
         header.stage == Stage::kBroadcast &&
         network_.sinceStart() >= wrong.at &&
         faults_.get(Fault::kWrongResult) == 0;
}

// Delivers a copy of a genuine datagram with another version, context, rank or
// tag.
void World::strangerTo(int rank, Network::Datagram datagram) {
  constexpr size_t kOffsets[] = {0, 22, 2, PacketHeader::kTagOffset};
  datagram[kOffsets[random_() % 4]] ^= std::byte{0x40};
  faults_.happened(Fault::kStrangers);
  traffic_.strangers++;
  hosts_[rank].endpoint->packetIn(
      nowAt(rank), datagram.data(), datagram.size());
}

// Delivers a datagram with one wrong byte, among those that the tag covers, in
// place of the genuine one.
void World::corruptedTo(int rank, Network::Datagram datagram) {
  const bool whole = Network::typeOf(datagram) == PacketType::kControl ||
                     options_.protocol.auth != AuthMode::kHeader;
  const Counters& counters = hosts_[rank].endpoint->shared().counters;
  const uint64_t rejected = Checker::rejectedIn(counters);
  deafTo(datagram);
  const size_t at =
      random_() % (whole ? datagram.size() : PacketHeader::kBytes);
  const auto mask = static_cast<std::byte>(1 + random_() % 255);
  datagram[at] ^= mask;
  faults_.happened(Fault::kCorruption);
  traffic_.strangers++;
  hosts_[rank].endpoint->packetIn(
      nowAt(rank), datagram.data(), datagram.size());
  if (Checker::rejectedIn(counters) == rejected) {
    violation("rank " + std::to_string(rank) + " takes a datagram whose byte " +
              std::to_string(at) + " is wrong by " +
              std::to_string(static_cast<int>(mask)));
  }
}

}  // namespace ubt::sim
