// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "tests/sim/event_queue.h"
#include "tests/sim/sim_options.h"

namespace ubt::sim {

// Links with queues around one switch: a datagram waits at its sender's
// uplink, then at its receiver's downlink, and is dropped where a queue is
// full. Loss, duplication, reordering and partition come on top. Counts every
// datagram's end.
class Network {
 public:
  using Datagram = std::vector<std::byte>;
  using Deliver = std::function<void(int rank, const Datagram&)>;

  // `events` must outlive this.
  Network(const SimOptions& options, EventQueue* events, Deliver deliver);

  void send(int from, int to, const Datagram& datagram);

  // Data datagrams only (the others are the same, but not accounted for).
  uint64_t dataDuplicated() const { return dataDuplicated_; }
  uint64_t dataLost() const { return dataLost_; }

 private:
  struct Link {
    TimePoint freeAt{};
  };

  // When a datagram leaves the link; kNever if its queue is full.
  TimePoint pass(Link* link, TimePoint arrival, size_t bytes);
  void forward(int from, int to, const Datagram& datagram);
  bool chance(double probability);
  bool partitioned(int from, int to) const;

  const SimOptions& options_;
  EventQueue* const events_;
  const Deliver deliver_;
  std::mt19937_64 random_;
  std::vector<Link> up_;
  std::vector<Link> down_;
  uint64_t dataDuplicated_ = 0;
  uint64_t dataLost_ = 0;
};

}  // namespace ubt::sim
