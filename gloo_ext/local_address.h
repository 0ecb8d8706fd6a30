// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

namespace gloo_ext {

// The address for this process's datagrams. If GLOO_SOCKET_IFNAME is set: that
// of the first interface it names. Otherwise, as in PyTorch: the address of the
// host's name, if it belongs to this host, or else the loopback. Throws
// gloo::InvalidOperationException, which names an interface that does not exist
// or has no address.
sockaddr_storage localAddress();

}  // namespace gloo_ext
