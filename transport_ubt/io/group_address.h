// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "transport_ubt/io/socket_address.h"

namespace ubt {

// Where a context's ranks reach each other all at once: a group of the local
// (239.255.0.0/16) or, of IPv6, the site-local scope (ff15::/16), which the
// epoch picks. Contexts may meet in one: whoever listens tells them apart.
SocketAddress groupAddress(int family, uint64_t epoch, uint16_t port);

}  // namespace ubt
