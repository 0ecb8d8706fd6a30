// SPDX-License-Identifier: Apache-2.0
//
// Checks that every datagram is accounted for.

#include "transport_ubt/sim/checker.h"

namespace ubt::sim {

void Checker::checkTraffic(const Counters& counters,
                           const Traffic& traffic,
                           const Network& network) const {
  const auto total = [&](Counter c) { return counters.get(c); };
  const auto balance = [&](const char* what,
                           uint64_t sent,
                           uint64_t ended,
                           const std::vector<Counter>& ends) {
    for (const Counter end : ends) {
      ended += total(end);
    }
    if (sent != ended) {
      violation_(std::string(what) + " datagrams: " + std::to_string(sent) +
                 " went out, " + std::to_string(ended) + " are accounted for");
    }
  };
  const std::initializer_list<Counter> dataEnds = {Counter::kAcceptedData,
                                                   Counter::kDuplicateData,
                                                   Counter::kLateData,
                                                   Counter::kUnannounced,
                                                   Counter::kMismatched,
                                                   Counter::kUngranted,
                                                   Counter::kTooEarly,
                                                   Counter::kArenaFull};
  const std::initializer_list<Counter> controlEnds = {
      Counter::kAcceptedControl, Counter::kReplayed, Counter::kClosedPeer};
  const uint64_t data =
      total(Counter::kSentData) + network.duplicated(PacketType::kData);
  const uint64_t dataLost = network.lost(PacketType::kData) + traffic.deafData;
  const uint64_t control =
      total(Counter::kSentControl) + network.duplicated(PacketType::kControl);
  const uint64_t controlLost =
      network.lost(PacketType::kControl) + traffic.deafControl;
  if (options_.protocol.multicast) {
    // A rank without an owner's key cannot tell the owner's data from its
    // control, or either of them from a stranger's.
    std::vector<Counter> ends;
    for (const auto& some : {dataEnds, controlEnds, kRejects}) {
      ends.insert(ends.end(), some);
    }
    balance("all",
            data + control + traffic.strangers,
            dataLost + controlLost,
            ends);
    return;
  }
  balance("data", data, dataLost, dataEnds);
  balance("control", control, controlLost, controlEnds);
  const uint64_t rejected = rejectedIn(counters);
  if (rejected != traffic.strangers) {
    violation_(std::to_string(rejected) + " datagrams were rejected, of " +
               std::to_string(traffic.strangers) + " that strangers sent");
  }
}

}  // namespace ubt::sim
