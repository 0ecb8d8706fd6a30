// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/ideal_flow.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "transport_ubt/core/base/require.h"

namespace ubt::sim {
namespace {

constexpr uint64_t kSegmentBytes = 16 << 10;

// The part of a full queue that belongs to one TCP flow. With this value a
// simulated ring takes as long among bursts as the lab's ring.
constexpr uint64_t kPartsOfQueue = 6;

// The bytes that a sender may have in flight to a peer: twice the capacity of
// the round trip, on a path as slow as the slowest in a hundred. If others fill
// the queues, also a part of the queue.
uint64_t windowBytes(const SimOptions& options) {
  const double roundTrip =
      std::chrono::duration<double>(2 * options.delay +
                                    2 * options.pathDelay * options.pathTail)
          .count();
  return 4 * kSegmentBytes +
         (options.burstEvery > Duration{0} ? options.queueBytes / kPartsOfQueue
                                           : 0) +
         static_cast<uint64_t>(2 * options.bytesPerSecond * roundTrip);
}

}  // namespace

IdealFlow::IdealFlow(const SimOptions& options,
                     EventQueue* events,
                     Network* network,
                     int from,
                     int to,
                     Then sendable)
    : Flow(options, events, network, from, to, std::move(sendable)),
      windowBytes_(windowBytes(options)) {}

void IdealFlow::write(uint64_t bytes, Then arrived) {
  UBT_REQUIRE(bytes > 0);
  queue_.push_back({bytes, std::move(arrived)});
  sendable_();
}

bool IdealFlow::maySend() const {
  return !queue_.empty() && underWay_ < windowBytes_;
}

void IdealFlow::send() {
  UBT_REQUIRE(maySend());
  Message& message = queue_.front();
  const uint64_t bytes = std::min(kSegmentBytes, message.left);
  message.left -= bytes;
  Then arrived;
  if (message.left == 0) {
    arrived = std::move(message.arrived);
    queue_.pop_front();
  }
  underWay_ += bytes;
  network_->carry(from_, to_, onWire(bytes), [this, bytes, arrived] {
    if (arrived != nullptr) {
      arrived();
    }
    events_->after(options_.delay, [this, bytes] {
      underWay_ -= bytes;
      sendable_();
    });
  });
}

}  // namespace ubt::sim
