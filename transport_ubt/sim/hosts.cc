// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/hosts.h"

#include <algorithm>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/sim/false_credit.h"
#include "transport_ubt/sim/inputs.h"

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

Hosts::Hosts(const SimOptions& options,
             const Reduction& reduction,
             RunDigest* digest,
             Violation violation,
             Progress progress)
    : options_(options),
      reduction_(reduction),
      digest_(digest),
      violation_(std::move(violation)),
      progress_(std::move(progress)),
      random_(options.seed ^ options.timingSeed << 32 ^ 0x776f726c64),
      network_(
          options_,
          &events_,
          [this](int rank, const Network::Arrived& datagram, bool congested) {
            receive(rank, datagram, congested);
          }),
      hosts_(options.ranks),
      joined_(events_.now() + options.deafFor) {
  for (int rank = 0; rank < options_.ranks; rank++) {
    Host& host = hosts_[rank];
    host.clock = HostClock(
        options_.faults.clocks, events_.now(), mix(options_.seed + 77 * rank));
    host.endpoint = makeEndpoint(rank);
    for (int context = 0; context < options_.contexts; context++) {
      host.sessions.push_back(
          host.endpoint->open(setupOf(rank, context, false)));
    }
  }
}

bool Hosts::chance(double probability) {
  return probability > 0 &&
         std::uniform_real_distribution<>()(random_) < probability;
}

std::unique_ptr<Endpoint> Hosts::makeEndpoint(int rank) {
  Endpoint::Limits limits;
  limits.arenaBytes = options_.arenaBytes;
  limits.windowBytesMax = options_.windowOf(rank);
  limits.windowBytesMin =
      std::min(limits.windowBytesMax, options_.windowBytesMin);
  limits.without = options_.protocol.without;
  if (options_.faults.sharedArena && rank < 2) {
    limits.arenaBudget = &sharedArena_;
  }
  auto endpoint = std::make_unique<Endpoint>(limits, reduction_);
  endpoint->shared().lateness = TimerLateness(options_.lateness);
  endpoint->shared().noticeDelay = NoticeDelay(options_.lateness);
  return endpoint;
}

Session::Setup Hosts::setupOf(int rank, int context, bool again) const {
  Session::Setup setup;
  setup.rank = rank;
  setup.size = options_.ranks;
  // In half of the seeds, headers do not tell contexts apart.
  setup.epoch = mix(options_.seed) +
                (static_cast<uint64_t>(context) << (options_.seed % 2 * 16)) +
                (again ? uint64_t{1} << (options_.seed % 3 * 8) : 0);
  setup.slotBytesMax = options_.slotBytes;
  setup.groups = RankGroups::equal(options_.ranks, options_.groups);
  setup.options = options_.protocolOf(rank);
  const auto number = static_cast<uint8_t>(context + (again ? 128 : 0));
  setup.multicastSeed.fill(static_cast<uint8_t>(100 + rank));
  setup.multicastSeed[1] = number;
  for (int peer = 0; peer < options_.ranks; peer++) {
    setup.windowBytes.push_back(options_.windowOf(peer));
    setup.keys.push_back(keysOf(rank, peer, number));
  }
  return setup;
}

PeerKeys Hosts::keysOf(int rank, int peer, uint8_t number) {
  PeerKeys keys;
  keys.send.fill(static_cast<uint8_t>(rank * 16 + peer));
  keys.receive.fill(static_cast<uint8_t>(peer * 16 + rank));
  keys.sendSeal.fill(keys.send[0]);
  keys.receiveSeal.fill(keys.receive[0]);
  keys.send[1] = keys.receive[1] = number;
  keys.sendSeal[1] = keys.receiveSeal[1] = number;
  keys.sendMask.fill(keys.send[0]);
  keys.receiveMask.fill(keys.receive[0]);
  return keys;
}

void Hosts::addCounters(int rank, Counters* sum) const {
  const Host& host = hosts_[rank];
  sum->add(host.endpoint->shared().counters);
  if (host.before != nullptr) {
    sum->add(host.before->shared().counters);
  }
}

FaultCounts Hosts::faults() const {
  FaultCounts sum = faults_;
  sum.add(network_.faults());
  return sum;
}

TimePoint Hosts::mayEnterAt(int rank) const {
  return std::max(rank == 0 ? joined_ : TimePoint{}, hosts_[rank].pausedUntil);
}

// Outgoing datagrams ---------------------------------------------------------

TimePoint Hosts::writableAt(int rank) const {
  return std::max(hosts_[rank].sendBlockedUntil,
                  network_.writableAt(rank, LinkRate::kBacklogBytes));
}

void Hosts::sendNow(int rank, int peer, const Network::Train& train) {
  if (peer == rank) {
    network_.multicast(rank, train);  // it travels alone: joins()
  } else {
    network_.send(rank, peer, train);
  }
}

bool Hosts::joins(const OpenTrain& train,
                  int rank,
                  int peer,
                  const Network::Datagram& datagram) const {
  return !train.datagrams.empty() && peer == train.to && peer != rank &&
         datagram.size() <= train.datagrams.front().size() &&
         train.bytes + datagram.size() <= options_.trainBytes;
}

// Hands the train to the socket, if there is one. The next one begins.
void Hosts::flush(int rank, OpenTrain* train) {
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
void Hosts::sendAll(int rank) {
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
      violation_("a datagram is larger than the path lets through");
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

void Hosts::pump(int rank) {
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
    violation_("the arena holds more than its limit");
  }
  progress_(rank);
  TimePoint next = host.clock.when(host.endpoint->nextDeadline());
  const TimePoint writable = writableAt(rank);
  if (writable > events_.now()) {
    next = next > events_.now() ? std::min(next, writable) : writable;
  }
  wake(rank, next);
}

void Hosts::wake(int rank, TimePoint when) {
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

void Hosts::receive(int rank,
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

void Hosts::drain(int rank) {
  Host& host = hosts_[rank];
  const auto free = [&] {
    return host.crashed ? TimePoint{}
                        : std::max(host.pausedUntil, host.busyUntil);
  };
  while (!host.inbox.empty() && free() <= events_.now()) {
    const Waiting next = std::move(host.inbox.front());
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
void Hosts::deafTo(const Network::Datagram& datagram) {
  (Network::typeOf(datagram) == PacketType::kData ? traffic_.deafData
                                                  : traffic_.deafControl)++;
}

void Hosts::noteArrival(int rank,
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

bool Hosts::tellsArrivals(int rank) const {
  const Counters& counters = hosts_[rank].endpoint->shared().counters;
  return !options_.noData && counters.get(Counter::kDroppedEarly) == 0 &&
         counters.get(Counter::kEvictedOps) == 0 &&
         counters.get(Counter::kExpiredOps) == 0 &&
         (options_.contexts == 1 || options_.seed % 2 == 0);
}

void Hosts::take(int rank, const Network::Datagram& datagram, bool congested) {
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

void Hosts::deliver(int rank,
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
  if (anyGone_ && rejectedIn(counters) > rejectedIn(before)) {
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
TimePoint Hosts::nextOf(Duration period) const {
  return events_.now() + period - events_.now().time_since_epoch() % period;
}

// The credit from `from` to `to`. A greedy rank believes that it has some.
// REQUIRES one context.
void Hosts::makeCreditFalse(int from, int to, Network::Datagram* datagram) {
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

bool Hosts::wrongResultDue(int rank, const PacketHeader& header) const {
  const WrongResult& wrong = options_.faults.wrongResult;
  return rank == wrong.rank && header.type == PacketType::kData &&
         header.stage == Stage::kBroadcast &&
         network_.sinceStart() >= wrong.at &&
         faults_.get(Fault::kWrongResult) == 0;
}

// Delivers a copy of a genuine datagram with another version, context, rank or
// tag.
void Hosts::strangerTo(int rank, Network::Datagram datagram) {
  constexpr size_t kOffsets[] = {0, 22, 2, PacketHeader::kTagOffset};
  datagram[kOffsets[random_() % 4]] ^= std::byte{0x40};
  faults_.happened(Fault::kStrangers);
  traffic_.strangers++;
  hosts_[rank].endpoint->packetIn(
      nowAt(rank), datagram.data(), datagram.size());
}

// Delivers a datagram with one wrong byte, among those that the tag covers, in
// place of the genuine one.
void Hosts::corruptedTo(int rank, Network::Datagram datagram) {
  const bool whole = Network::typeOf(datagram) == PacketType::kControl ||
                     options_.protocol.auth != AuthMode::kHeader;
  const Counters& counters = hosts_[rank].endpoint->shared().counters;
  const uint64_t rejected = rejectedIn(counters);
  deafTo(datagram);
  const size_t at =
      random_() % (whole ? datagram.size() : PacketHeader::kBytes);
  const auto mask = static_cast<std::byte>(1 + random_() % 255);
  datagram[at] ^= mask;
  faults_.happened(Fault::kCorruption);
  traffic_.strangers++;
  hosts_[rank].endpoint->packetIn(
      nowAt(rank), datagram.data(), datagram.size());
  if (rejectedIn(counters) == rejected) {
    violation_("rank " + std::to_string(rank) +
               " takes a datagram whose byte " + std::to_string(at) +
               " is wrong by " + std::to_string(static_cast<int>(mask)));
  }
}

// Faults of hosts ------------------------------------------------------------

void Hosts::peerClosed(int rank, int peer, const std::string& why) {
  for (Session* session : hosts_[rank].sessions) {
    if (session != nullptr) {
      session->peerClosed(nowAt(rank), peer, why);
    }
  }
  pump(rank);
}

void Hosts::close(int rank, int context) {
  Host& host = hosts_[rank];
  Session*& session = host.sessions[context];
  anyGone_ = true;
  session->sendLeave(nowAt(rank));
  pump(rank);
  host.endpoint->close(session);
  session = nullptr;
}

bool Hosts::crash(int rank) {
  return !std::exchange(hosts_[rank].crashed, true);
}

Session* Hosts::restart(int rank) {
  Host& host = hosts_[rank];
  if (!host.crashed || host.restarted) {
    return nullptr;
  }
  anyGone_ = true;
  host.before = std::move(host.endpoint);
  host.endpoint = makeEndpoint(rank);
  for (const Waiting& waiting : host.inbox) {
    deafTo(*waiting.datagram);
  }
  host.inbox.clear();
  host.inboxBytes = 0;
  host.crashed = false;
  host.restarted = true;
  Session* const session = host.endpoint->open(setupOf(rank, 0, true));
  host.sessions.assign(options_.contexts, nullptr);
  return session;
}

void Hosts::pause(const Pause& pause) {
  Host& host = hosts_[pause.rank];
  if (host.crashed) {
    return;
  }
  const TimePoint end = events_.now() + pause.lasting;
  const TimePoint begin = std::max(events_.now(), host.pausedUntil);
  host.stoodStill +=
      std::max(host.clock.shows(end) - host.clock.shows(begin), Duration{0});
  host.pausedUntil = std::max(host.pausedUntil, end);
  faults_.happened(Fault::kPause);
  // After the pause the host looks first at its timers, or at its incoming
  // datagrams.
  if (random_() % 2 == 0) {
    events_.at(end, [this, rank = pause.rank] { pump(rank); });
  } else {
    wake(pause.rank, end);
  }
}

}  // namespace ubt::sim
