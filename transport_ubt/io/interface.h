// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "transport_ubt/io/socket_address.h"

namespace ubt {

// The name of this host's interface that has the address, whatever its port;
// empty if none has.
std::string interfaceOf(const SocketAddress& address);

}  // namespace ubt
