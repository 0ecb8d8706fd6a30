// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "transport_ubt/io/socket_address.h"

namespace ubt {

// The name of this host's interface that has the address; empty if none has.
// The port is ignored.
std::string interfaceOf(const SocketAddress& address);

// The address that a socket bound to `own` must use for the peer. A link-local
// address needs an interface number of this host. The peer's number means
// nothing here, so `own`'s replaces it. Other addresses are returned unchanged.
SocketAddress reachedFrom(const SocketAddress& own, const SocketAddress& peer);

}  // namespace ubt
