// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/io/socket_address.h"

namespace ubt {

// The faults that GLOO_UBT_FAULT requests, e.g.
// "loss:0.01,dup:0.001,reorder:0.01,tail:0.02,delay:200us,seed:7".
// Probabilities are per datagram sent.
struct FaultOptions {
  double loss = 0;
  double duplicate = 0;
  double reorder = 0;  // delayed by up to kReorderBy
  double tail = 0;     // share lost at a message's end (MessageTail)
  Duration delay{0};   // of every datagram
  uint64_t seed = 1;

  bool any() const {
    return loss > 0 || duplicate > 0 || reorder > 0 || tail > 0 ||
           delay > Duration{0};
  }

  // Throws std::invalid_argument, which names the bad item and lists the known
  // ones. An empty text means no faults.
  static FaultOptions parse(const std::string& text);
};

// Injects repeatable faults into outgoing datagrams: it decides which are lost,
// and holds those that leave later. Each sending rank has its own random
// numbers, made from the seed and the rank. With the same numbers, all ranks
// would lose their datagrams together. Not thread-safe.
class FaultInjector {
 public:
  static constexpr Duration kReorderBy = std::chrono::milliseconds(1);

  struct Held {
    SocketAddress to;
    std::vector<std::byte> datagram;
  };

  explicit FaultInjector(const FaultOptions& options) : options_(options) {}

  // Takes a datagram that `rank` sends. due() returns it when it is to leave.
  // False if it is lost.
  bool send(TimePoint now,
            int rank,
            const SocketAddress& to,
            std::vector<std::byte> datagram);
  // The next datagram to send now, or false.
  bool due(TimePoint now, Held* out);
  TimePoint nextDeadline() const {
    return held_.empty() ? kNever : held_.begin()->first;
  }

 private:
  std::mt19937_64& randomOf(int rank);

  const FaultOptions options_;
  std::map<int, std::mt19937_64> randoms_;  // by sending rank
  std::multimap<TimePoint, Held> held_;
};

}  // namespace ubt
