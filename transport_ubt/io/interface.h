// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "transport_ubt/io/socket_address.h"

namespace ubt {

// The name of this host's interface that has the address, whatever its port;
// empty if none has.
std::string interfaceOf(const SocketAddress& address);

// The peer's address, for a socket bound to `own`. A link-local address needs
// the number of an interface of this host: that of `own`. The peer's number
// means nothing here. Other addresses are returned unchanged.
SocketAddress reachedFrom(const SocketAddress& own, const SocketAddress& peer);

}  // namespace ubt
