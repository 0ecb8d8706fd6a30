// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/network.h"

#include <algorithm>

namespace ubt::sim {
namespace {

constexpr TimePoint kStart{std::chrono::seconds(1)};
constexpr size_t kFrameBytes = 66;  // Ethernet, IP and UDP around a datagram

}  // namespace

Network::Network(const SimOptions& options, EventQueue* events, Deliver deliver)
    : options_(options),
      events_(events),
      deliver_(std::move(deliver)),
      random_(options.seed ^ options.timingSeed << 32 ^ 0x6e6574),
      up_(options.ranks),
      down_(options.ranks) {}

bool Network::chance(double probability) {
  return probability > 0 &&
         std::uniform_real_distribution<>()(random_) < probability;
}

bool Network::partitioned(int from, int to) const {
  const TimePoint begin = kStart + options_.partitionAt;
  return (from == 0 || to == 0) && events_->now() >= begin &&
         events_->now() < begin + options_.partitionFor;
}

TimePoint Network::pass(Link* link, TimePoint arrival, size_t bytes) {
  const auto wire = [this](double b) {
    return Duration(static_cast<int64_t>(b * 1e9 / options_.bytesPerSecond));
  };
  const TimePoint begin = std::max(arrival, link->freeAt);
  if (begin - arrival > wire(options_.queueBytes)) {
    return kNever;
  }
  link->freeAt = begin + wire(bytes + kFrameBytes);
  return link->freeAt;
}

void Network::send(int from, int to, const Datagram& datagram) {
  if (chance(options_.duplicate)) {
    duplicated_[index(typeOf(datagram))]++;
    forward(from, to, datagram);
  }
  forward(from, to, datagram);
}

void Network::forward(int from, int to, const Datagram& datagram) {
  const TimePoint sent = pass(&up_[from], events_->now(), datagram.size());
  if (sent == kNever || partitioned(from, to) || chance(options_.loss)) {
    lost_[index(typeOf(datagram))]++;
    return;
  }
  TimePoint arrived = pass(&down_[to], sent, datagram.size());
  if (arrived == kNever) {
    lost_[index(typeOf(datagram))]++;
    return;
  }
  arrived += options_.delay;
  if (chance(options_.reorder)) {
    arrived += Duration(random_() % options_.reorderBy.count());
  }
  if (to == options_.slow) {
    slowUntil_ = std::max(slowUntil_, arrived) + options_.slowBy;
    arrived = slowUntil_;
  }
  events_->at(arrived, [this, to, datagram] { deliver_(to, datagram); });
}

}  // namespace ubt::sim
