// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace ubt::sim {

// One direction of a reliable connection. Its host decides when it may put a
// segment on the host's link.
class Flow {
 public:
  using Then = std::function<void()>;

  virtual ~Flow() = default;

  // Queues bytes, more than none. Calls `arrived` when they, and all bytes
  // before them, are at the receiver.
  virtual void write(uint64_t bytes, Then arrived) = 0;

  // Whether there are bytes that may leave. After write() or an event this may
  // become true; the flow then calls `sendable` of its constructor.
  virtual bool maySend() const = 0;

  // Puts one segment on the link. REQUIRES maySend().
  virtual void send() = 0;
};

}  // namespace ubt::sim
