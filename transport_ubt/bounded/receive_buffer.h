// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gloo {
namespace transport {
namespace ubt {

// What a user can do where the kernel granted a UDP socket less of a receive
// buffer than was asked for; empty if it granted all. `granted` is as the
// kernel tells it (SO_RCVBUF, socket(7)): twice what it allows for, the other
// half being its own. Bytes.
inline std::string receiveBufferAdvice(int granted, int asked) {
  if (granted / 2 >= asked) {
    return "";
  }
  return "the kernel limits a UDP socket's receive buffer to " +
         std::to_string(granted / 2) +
         " bytes; the bounded transport works, but slower: sysctl -w "
         "net.core.rmem_max=" +
         std::to_string(asked);
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
