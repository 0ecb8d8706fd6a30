// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "transport_ubt/core/clock.h"

namespace ubt {

// What a caller that has nothing to do does before it lets the next datagram
// wake it. That wake-up costs the kernel, and mostly the sender, more time than
// an answer takes; so a caller is better awake, or else asleep until there is
// more to do than one datagram.
struct IdlePolicy {
  Duration yield{0};  // for so long it yields the CPU, and looks again
  Duration nap{0};    // then it sleeps for so long, whatever comes

  // For a call over so many bytes, where so many ranks of its context share a
  // CPU: yields where all can run almost at once and the call is short, naps
  // where there are others to run. `configured.nap` is for each rank that
  // shares a CPU.
  static IdlePolicy forCall(const IdlePolicy& configured,
                            int ranksPerCpu,
                            size_t bytes);
};

}  // namespace ubt
