// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// Finds the last datagrams of messages, for GLOO_UBT_FAULT=tail:P. Losing these
// is like running out of time (OptiReduce, section 3.3): the same elements are
// lost each time, and from most ranks. A message is the slots that a rank sends
// to one rank, or to all by multicast, in one stage of one op. Not thread-safe.
class MessageTail {
 public:
  // Maximum number of remembered ops; the oldest are forgotten first.
  static constexpr size_t kOpsMax = 256;

  // The sending context.
  struct Context {
    uint64_t epoch = 0;
    int rank = 0;
    int size = 1;
    size_t slotBytesMax = 0;
  };

  // `share` of a message's slots, from 0 to 1, is rounded to whole slots.
  explicit MessageTail(double share) : share_(share) {}

  // Whether a datagram to `peer` is in the last `share` of its message. Always
  // false for repairs, control and hierarchical ops. Also false for a result if
  // no contribution of its op has passed here: a result does not say how many
  // elements its op has.
  bool holds(const Context& context, int peer, const PacketHeader& header);

 private:
  using Key = std::pair<uint64_t, OpId>;  // epoch, op

  const double share_;
  std::map<Key, uint64_t> elements_;
  std::deque<Key> oldestFirst_;
};

}  // namespace ubt
