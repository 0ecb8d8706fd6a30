// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "transport_ubt/io/socket_address.h"

namespace ubt {

// The multicast address of a context. The epoch selects it from 239.255.0.0/16
// (local scope) or, with IPv6, from ff15::/16 (site-local scope). Contexts may
// share an address: their receivers tell them apart.
SocketAddress multicastAddress(int family, uint64_t epoch, uint16_t port);

}  // namespace ubt
