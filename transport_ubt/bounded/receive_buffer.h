// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ubt {

// Links of 25 Gbit/s and more gain from a larger buffer, others do not.
constexpr int kEnoughBufferBytes = 4 << 20;

// Advice for the user if the kernel granted a UDP socket a smaller receive
// buffer than was wanted; empty if it did not. Both are in bytes. `granted`
// is the kernel's number (SO_RCVBUF, socket(7)): half of it is for the kernel
// itself.
inline std::string receiveBufferAdvice(int granted, int wanted) {
  if (granted / 2 >= wanted) {
    return "";
  }
  return "the kernel limits a UDP socket's receive buffer to " +
         std::to_string(granted / 2) +
         " bytes; the bounded transport works, but slower: sysctl -w "
         "net.core.rmem_max=" +
         std::to_string(wanted);
}

}  // namespace ubt
