// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "transport_ubt/sim/event_queue.h"
#include "transport_ubt/sim/network.h"
#include "transport_ubt/sim/sim_options.h"

namespace ubt::sim {

// One direction of a reliable connection. Its host decides when it may put a
// segment on the host's link.
class Flow {
 public:
  using Then = std::function<void()>;

  virtual ~Flow() = default;
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  // Queues bytes, more than none. Calls `arrived` when they, and all bytes
  // before them, are at the receiver.
  virtual void write(uint64_t bytes, Then arrived) = 0;

  // Whether there are bytes that may leave. After write() or an event this may
  // become true; the flow then calls `sendable` of its constructor.
  virtual bool maySend() const = 0;

  // Puts one segment on the link. REQUIRES maySend().
  virtual void send() = 0;

 protected:
  // All must outlive this.
  Flow(const SimOptions& options,
       EventQueue* events,
       Network* network,
       int from,
       int to,
       Then sendable)
      : options_(options),
        events_(events),
        network_(network),
        from_(from),
        to_(to),
        sendable_(std::move(sendable)) {}

  // A segment's bytes with the headers of Ethernet, IP and TCP.
  static size_t onWire(uint64_t bytes) {
    return static_cast<size_t>(static_cast<double>(bytes) * (1514.0 / 1448));
  }

  const SimOptions& options_;
  EventQueue* const events_;
  Network* const network_;
  const int from_;
  const int to_;
  const Then sendable_;
};

}  // namespace ubt::sim
