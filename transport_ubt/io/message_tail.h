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

// Tells the last datagrams of messages, for GLOO_UBT_FAULT=tail:P: the loss of
// a time that ran out (OptiReduce, section 3.3), always of the same elements,
// and of most ranks' alike. A message is what a rank sends another, or all by
// multicast, in one stage of one op, slot by slot. Not thread-safe.
class MessageTail {
 public:
  // Ops whose shape is remembered; older ones are forgotten first.
  static constexpr size_t kOpsMax = 256;

  // The context that sends.
  struct Context {
    uint64_t epoch = 0;
    int rank = 0;
    int size = 1;
    size_t slotBytesMax = 0;
  };

  // `share`: of a message's slots, 0 to 1, rounded to whole ones.
  explicit MessageTail(double share) : share_(share) {}

  // Whether a datagram to `peer` belongs to that share of its message. Never
  // so what is sent on request, control, what belongs to a hierarchical op, or
  // a result of an op for which nothing has been contributed through here yet:
  // a result does not say how long its op is.
  bool holds(const Context& context, int peer, const PacketHeader& header);

 private:
  using Key = std::pair<uint64_t, OpId>;  // epoch, op

  const double share_;
  std::map<Key, uint64_t> elements_;
  std::deque<Key> oldestFirst_;
};

}  // namespace ubt
