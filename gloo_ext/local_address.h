// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

namespace gloo_ext {

// Where this process's datagrams come from and go to: the first interface that
// GLOO_SOCKET_IFNAME names; without it, as PyTorch chooses, what the host's
// name stands for, if that is an address of this host, or the loopback. Throws
// gloo::InvalidOperationException that names an interface which is not there or
// has no address.
sockaddr_storage localAddress();

}  // namespace gloo_ext
