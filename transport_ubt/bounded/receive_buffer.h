// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ubt {

// Advice for the user if the kernel granted a UDP socket a smaller receive
// buffer than was asked for; empty if it did not. Both are in bytes. `granted`
// is the kernel's number (SO_RCVBUF, socket(7)): half of it is for the kernel
// itself.
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
