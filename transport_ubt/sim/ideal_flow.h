// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "transport_ubt/sim/flow.h"

namespace ubt::sim {

// A connection that is better than TCP's: it loses and repeats nothing, and
// knows from the start how many bytes may be in flight.
class IdealFlow : public Flow {
 public:
  // All must outlive this.
  IdealFlow(const SimOptions& options,
            EventQueue* events,
            Network* network,
            int from,
            int to,
            Then sendable);

  void write(uint64_t bytes, Then arrived) override;
  bool maySend() const override;
  void send() override;

 private:
  struct Message {
    uint64_t left;
    Then arrived;
  };

  const uint64_t windowBytes_;
  std::deque<Message> queue_;
  uint64_t underWay_ = 0;
};

}  // namespace ubt::sim
