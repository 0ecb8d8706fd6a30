// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// What a caller that has nothing to do does before it lets the next datagram
// wake it. That wake-up costs the kernel, and mostly the sender, more time than
// an answer takes; so a caller is better awake, or else asleep until there is
// more to do than one datagram.
struct IdlePolicy {
  Duration yield{0};  // for so long it yields the CPU, and looks again
  Duration nap{0};    // then it sleeps for so long, whatever comes

  // A smaller window is full, and all senders wait, long before a nap is over.
  static constexpr uint64_t kNapWindowBytesMin = 1 << 20;

  // This one where the socket's window has so many bytes: without naps, if
  // that is too few.
  IdlePolicy inWindow(uint64_t windowBytes) const;

  // For a call over so many bytes, where so many ranks of its context share a
  // CPU. One yields; two yield in a short call, or where they may not nap; all
  // others nap, `configured.nap` for each rank that shares the CPU, or, where
  // they may not, sleep at once.
  static IdlePolicy forCall(const IdlePolicy& configured,
                            int ranksPerCpu,
                            size_t bytes);
};

// Sleeps through whatever datagrams come; not through a wake-up of `wakeFd`.
void nap(int wakeFd, Duration length);

}  // namespace ubt
