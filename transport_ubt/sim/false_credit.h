// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "transport_ubt/core/wire/packet_crypto.h"
#include "transport_ubt/sim/network.h"

namespace ubt::sim {

// The credit in a genuine control datagram: the first record, without the bit
// kWantsResults. REQUIRES control that is not sealed.
uint64_t creditIn(const Network::Datagram& datagram);

// Puts another credit in its place. `keys`: of its sender, for its receiver.
// So the receiver takes the datagram for genuine. REQUIRES a number below 2^24.
void setCredit(Network::Datagram* datagram,
               const PeerKeys& keys,
               uint64_t credit);

}  // namespace ubt::sim
