// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "transport_ubt/core/base/counters.h"
#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt::sim {

// The data packets that one rank's endpoint received, and how it counted each
// of them. The checker compares these with the reports of its ops.
class Arrivals {
 public:
  struct Slots {
    std::set<uint32_t> taken;
    std::set<uint32_t> inVain;  // late, or refused because there was no room
  };

  // REQUIRES a data packet.
  void note(const PacketHeader& header, Counter fate) {
    UBT_REQUIRE(header.type == PacketType::kData);
    if (fate == Counter::kAcceptedData) {
      slots_[keyOf(header)].taken.insert(header.slot);
    } else if (fate == Counter::kLateData || fate == Counter::kArenaFull) {
      slots_[keyOf(header)].inVain.insert(header.slot);
    }
  }

  Slots of(uint16_t context, const OpId& op, Stage stage, int source) const {
    const auto found = slots_.find({context, op, stage, source});
    return found == slots_.end() ? Slots() : found->second;
  }

 private:
  using Key = std::tuple<uint16_t, OpId, Stage, int>;
  static Key keyOf(const PacketHeader& header) {
    return {header.context, header.op, header.stage, header.source};
  }

  std::map<Key, Slots> slots_;
};

}  // namespace ubt::sim
