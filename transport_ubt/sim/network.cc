// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/network.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "transport_ubt/core/wire/control.h"
#include "transport_ubt/sim/inputs.h"

namespace ubt::sim {
namespace {

constexpr TimePoint kStart{std::chrono::seconds(1)};
constexpr size_t kFrameBytes = 66;  // Ethernet, IP and UDP around a datagram
// Chunks that a socket holds with Linux's default size (net.core.wmem_default).
constexpr size_t kChunksInSocket = 212992 / Bursts::kChunkBytes;

// Whether the datagram is of this kind, as far as its bytes show.
bool isOfKind(const Network::Datagram& datagram, int kind) {
  PacketHeader header;
  PacketHeader::decode(datagram.data(), datagram.size(), &header);
  if (header.type == PacketType::kData) {
    return kind == KindLoss::kData;
  }
  if (kind == KindLoss::kData || header.sealed) {
    return false;
  }
  ReadCursor cursor(datagram.data() + PacketHeader::kBytes,
                    datagram.size() - PacketHeader::kBytes);
  ControlClocks clocks;
  ControlRecord record;
  bool any = ControlClocks::decode(&cursor, &clocks);
  while (any && cursor.left() > 0) {
    any = ControlRecord::decode(&cursor, &record);
    if (any && static_cast<int>(record.type) == kind) {
      return true;
    }
  }
  return false;
}

}  // namespace

Network::Network(const SimOptions& options, EventQueue* events, Deliver deliver)
    : options_(options),
      events_(events),
      deliver_(std::move(deliver)),
      random_(options.seed ^ options.timingSeed << 32 ^ 0x6e6574),
      bursts_(options, events->now()),
      up_(options.ranks),
      down_(options.ranks),
      chunks_(options.ranks) {
  stalls_.reserve(options.ranks);  // links point to them
  for (int rank = 0; rank < options.ranks; rank++) {
    stalls_.emplace_back(options, rank, events->now());
    up_[rank].stalls = down_[rank].stalls = &stalls_[rank];
    up_[rank].bytesPerSecond = options.bytesPerSecondOf(rank);
    down_[rank].bytesPerSecond = options.bytesPerSecondOf(rank);
  }
}

bool Network::chance(double probability) {
  return probability > 0 &&
         std::uniform_real_distribution<>()(random_) < probability;
}

bool Network::partitioned(int from, int to) const {
  const TimePoint begin = kStart + options_.partitionAt;
  return (from == 0 || to == 0) && events_->now() >= begin &&
         events_->now() < begin + options_.partitionFor;
}

double Network::loss() const {
  const TimePoint begin = kStart + options_.lossAt;
  const TimePoint now = events_->now();
  return now >= begin && now < begin + options_.lossFor ? options_.loss : 0;
}

Duration Network::sinceStart() const {
  return events_->now() - kStart;
}

Duration Network::way(int from, int to) const {
  if (options_.pathDelay == Duration{0}) {
    return options_.delay;
  }
  constexpr double kNormalAt99 = 2.3263;  // 99th percentile
  const auto period = static_cast<uint64_t>(events_->now().time_since_epoch() /
                                            options_.pathEvery);
  const uint64_t pair = static_cast<uint64_t>(from) << 32 | to;
  // The Box-Muller method for a normal distribution.
  const uint64_t seed = options_.seed ^ mix(pair ^ mix(period));
  const double radius = std::sqrt(-2 * std::log(unit(mix(seed))));
  const double normal = radius * std::cos(2 * M_PI * unit(mix(seed + 1)));
  return options_.delay +
         wholeNanoseconds(
             options_.pathDelay *
             std::exp(std::log(options_.pathTail) / kNormalAt99 * normal));
}

// A host's own queue also has room for the bytes in its sockets.
TimePoint Network::leave(int rank, TimePoint at, size_t bytes) {
  return pass(
      &up_[rank], at, bytes, options_.queueBytes + options_.socketBytes);
}

TimePoint Network::writableAt(int rank, uint64_t bytes) const {
  const Link& link = up_[rank];
  return link.stalls->begin(link.freeAt,
                            link.wire(std::min(bytes, options_.socketBytes)));
}

TimePoint Network::pass(Link* link,
                        TimePoint arrival,
                        size_t bytes,
                        uint64_t queueBytes) {
  const TimePoint begin = std::max(arrival, link->freeAt);
  if (begin - arrival - link->stalls->stoodStill(arrival, begin) >
      link->wire(queueBytes)) {
    return kNever;
  }
  link->freeAt = link->stalls->end(begin, link->wire(bytes + kFrameBytes));
  link->bytes += bytes + kFrameBytes;
  return link->freeAt;
}

// While a datagram waits at its host, those of other hosts reach the switch.
template <typename Then>
void Network::whenAtSwitch(TimePoint sent, Then then) {
  if (sent > events_->now() && sent != kNever) {
    events_->at(sent, std::move(then));
  } else {
    then();
  }
}

bool Network::isLong(int rank, TimePoint arrival) const {
  const Link& link = down_[rank];
  return options_.markBytes > 0 &&
         link.freeAt > arrival + link.wire(options_.markBytes);
}

void Network::sendBursts() {
  Bursts::Chunk chunk;
  while (bursts_.next(events_->now(), &chunk)) {
    std::deque<TimePoint>& waiting = chunks_[chunk.source];
    while (!waiting.empty() && waiting.front() <= chunk.at) {
      waiting.pop_front();
    }
    if (waiting.size() >= kChunksInSocket) {
      continue;
    }
    const TimePoint sent = leave(chunk.source, chunk.at, Bursts::kChunkBytes);
    if (sent != kNever) {
      faults_.happened(Fault::kBursts);
      waiting.push_back(sent);
      whenAtSwitch(sent, [this, sent, victim = chunk.victim] {
        pass(&down_[victim], sent, Bursts::kChunkBytes, options_.queueBytes);
      });
    }
  }
}

void Network::send(int from, int to, const Train& train) {
  sendBursts();
  if (chance(options_.duplicate)) {
    faults_.happened(Fault::kDuplicate);
    count(train, &duplicated_);
    forward(from, to, train);
  }
  if (chance(options_.faults.replays.share)) {
    count(train, &duplicated_);
    const auto within =
        static_cast<uint64_t>(options_.faults.replays.within.count());
    events_->after(Duration(random_() % within), [this, from, to, train] {
      faults_.happened(Fault::kReplay);
      forward(from, to, train);
    });
  }
  forward(from, to, train);
}

void Network::carry(int from,
                    int to,
                    size_t bytes,
                    const std::function<void()>& arrived) {
  constexpr uint64_t kNoLimit = uint64_t{1} << 50;
  sendBursts();
  const TimePoint sent = pass(&up_[from], events_->now(), bytes, kNoLimit);
  whenAtSwitch(sent, [this, from, to, bytes, sent, arrived] {
    sendBursts();
    events_->at(pass(&down_[to], sent, bytes, kNoLimit) + way(from, to),
                arrived);
  });
}

void Network::offer(int from,
                    int to,
                    size_t bytes,
                    TimePoint* last,
                    const std::function<void()>& arrived) {
  sendBursts();
  const TimePoint sent = leave(from, events_->now(), bytes);
  if (sent == kNever) {
    faults_.happened(Fault::kFullQueue);
    return;
  }
  whenAtSwitch(sent, [this, from, to, bytes, sent, last, arrived] {
    sendBursts();
    if (partitioned(from, to) || chance(loss())) {
      faults_.happened(partitioned(from, to) ? Fault::kPartition
                                             : Fault::kLoss);
      return;
    }
    const TimePoint left = pass(&down_[to], sent, bytes, options_.queueBytes);
    if (left == kNever) {
      faults_.happened(Fault::kFullQueue);
      return;
    }
    *last = std::max(*last, left + way(from, to));
    events_->at(*last, arrived);
  });
}

void Network::multicast(int from, const Train& train) {
  UBT_REQUIRE(train->size() == 1);
  sendBursts();
  const size_t type = index(typeOf(train->front()));
  duplicated_[type] += options_.ranks - 2;
  if (chance(options_.duplicate)) {
    faults_.happened(Fault::kDuplicate);
    duplicated_[type] += options_.ranks - 1;
    toMany(from, train);
  }
  toMany(from, train);
}

void Network::toMany(int from, const Train& train) {
  const TimePoint sent = leave(from, events_->now(), bytesOf(train));
  whenAtSwitch(sent, [this, from, sent, train] {
    for (int to = 0; to < options_.ranks; to++) {
      if (to != from && deaf(to)) {
        lose(train, Fault::kDeafToMulticast);
      } else if (to != from) {
        deliver(from, to, sent, train);
      }
    }
  });
}

bool Network::deaf(int rank) const {
  const TimePoint begin = kStart + options_.deafAt;
  return (options_.deafRanks >> rank & 1) != 0 && events_->now() >= begin &&
         events_->now() < begin + options_.deafTime;
}

size_t Network::bytesOf(const Train& train) {
  size_t bytes = (train->size() - 1) * kFrameBytes;
  for (const Datagram& datagram : *train) {
    bytes += datagram.size();
  }
  return bytes;
}

void Network::forward(int from, int to, const Train& train) {
  const TimePoint sent = leave(from, events_->now(), bytesOf(train));
  whenAtSwitch(
      sent, [this, from, to, sent, train] { deliver(from, to, sent, train); });
}

bool Network::isLost(int from, int to, const Train& train, Fault* why) {
  if (partitioned(from, to)) {
    *why = Fault::kPartition;
    return true;
  }
  if (chance(loss())) {
    *why = Fault::kLoss;
    return true;
  }
  const Faults& faults = options_.faults;
  for (const Cut& cut : faults.cuts) {
    if (cut.from == from && cut.to == to && cut.holds(sinceStart())) {
      *why = Fault::kCut;
      return true;
    }
  }
  const NarrowPath& narrow = faults.narrowPath;
  const Datagram& datagram = train->front();
  if (datagram.size() > narrow.bytesMax && sinceStart() >= narrow.at &&
      sinceStart() < narrow.at + narrow.lasting &&
      ((narrow.one == from && narrow.other == to) ||
       (narrow.one == to && narrow.other == from))) {
    *why = Fault::kNarrowPath;
    return true;
  }
  if (faults.kindLoss.share > 0 &&
      (faults.kindLoss.from < 0 || faults.kindLoss.from == from) &&
      isOfKind(datagram, faults.kindLoss.kind) &&
      chance(faults.kindLoss.share)) {
    *why = Fault::kKindLoss;
    return true;
  }
  return false;
}

void Network::deliver(int from, int to, TimePoint sent, const Train& train) {
  Fault why = Fault::kFullQueue;
  if (sent == kNever || isLost(from, to, train, &why)) {
    lose(train, why);
    return;
  }
  sendBursts();
  const bool congested =
      isLong(to, sent) || chance(options_.faults.marks.share);
  const TimePoint idleFrom = down_[to].freeAt;
  TimePoint arrived =
      pass(&down_[to], sent, bytesOf(train), options_.queueBytes);
  if (arrived == kNever) {
    lose(train, Fault::kFullQueue);
    return;
  }
  if (options_.protocol.trace && idleFrom < sent) {
    idle_.push_back({to, idleFrom, sent});
  }
  arrived += way(from, to);
  if (chance(options_.reorder)) {
    faults_.happened(Fault::kReorder);
    arrived += Duration(random_() % options_.reorderBy.count());
  }
  if (to == options_.slow) {
    faults_.happened(Fault::kSlow);
    slowUntil_ = std::max(slowUntil_, arrived) + options_.slowBy;
    arrived = slowUntil_;
  }
  if (congested) {
    faults_.happened(Fault::kMarks);
  }
  events_->at(arrived, [this, to, train, congested] {
    for (const Datagram& datagram : *train) {
      deliver_(to, Arrived(train, &datagram), congested);
    }
  });
}

}  // namespace ubt::sim
